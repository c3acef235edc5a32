package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// outFile is a file that a command will write. It is made sure of before anything
// moves, and gets its name only with all bytes in it: what was there before is not
// lost to a transfer that fails.
type outFile struct {
	name string
	f    *os.File
	part bool // f has another name until it is whole
}

// openOutFile makes sure that the file can be written. What is no regular file, such
// as /dev/null, is written in place.
func openOutFile(name string) (*outFile, error) {
	var f *os.File
	info, err := os.Stat(name)
	inPlace := err == nil && !info.Mode().IsRegular()
	if inPlace {
		f, err = os.OpenFile(name, os.O_WRONLY, 0)
	} else if f, err = os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".part*"); err == nil {
		err = f.Chmod(0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("-file: %w", err)
	}
	return &outFile{name, f, !inPlace}, nil
}

// write writes all of the file.
func (o *outFile) write(b []byte) error {
	_, err := o.f.Write(b)
	if err == nil {
		err = o.f.Close()
	}
	if err == nil && o.part {
		err = os.Rename(o.f.Name(), o.name)
		o.part = err != nil
	}
	if err != nil {
		return fmt.Errorf("-file: %w", err)
	}
	return nil
}

// end removes what was not written whole.
func (o *outFile) end() {
	o.f.Close()
	if o.part {
		os.Remove(o.f.Name())
	}
}
