package discover

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on what is read of a tree, whoever made it.
const (
	maxFile    = 4096 // bytes of a file; sysfs attributes fill a page at most
	maxEntries = 4096 // of a directory; GID tables have up to 1024
	maxName    = 255  // bytes of a file name on Linux
)

// What a file or directory may suffer from. They come in an [fs.PathError].
var (
	errEmpty   = errors.New("the file is empty")
	errHuge    = fmt.Errorf("the file has more than %d bytes", maxFile)
	errBinary  = errors.New("the file holds something else than a line of text")
	errNoDir   = errors.New("it is not a directory")
	errEntries = fmt.Errorf("the directory has more than %d entries, the rest is ignored", maxEntries)
)

// tree reads a sysfs tree, with bounds.
type tree struct{ fs.FS }

// ReadLink makes [fs.ReadLink] see through to the tree.
func (t tree) ReadLink(name string) (string, error) { return fs.ReadLink(t.FS, name) }

// Lstat is the other half of [fs.ReadLinkFS].
func (t tree) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(t.FS, name) }

// boundedReader is a tree that has a faster way to read the beginning of a file.
type boundedReader interface {
	readAtMost(name string, most int) ([]byte, error)
}

// readAtMost returns the first bytes of a file.
func (t tree) readAtMost(name string, most int) ([]byte, error) {
	if r, ok := t.FS.(boundedReader); ok {
		return r.readAtMost(name, most)
	}
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(most)))
}

// read returns the content of a file of at most maxFile bytes.
func (t tree) read(name string) ([]byte, error) {
	data, err := t.readAtMost(name, maxFile+1)
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errHuge}
	}
	return data, nil
}

// line returns the one line of text that a file holds, without its end of line.
// Spaces stay: they may belong to a name.
func (t tree) line(name string) (string, error) {
	data, err := t.read(name)
	if err != nil {
		return "", err
	}
	text, err := oneLine(data)
	if err != nil {
		return "", &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return text, nil
}

func oneLine(data []byte) (string, error) {
	text := strings.TrimSuffix(string(data), "\n")
	switch {
	case text == "":
		return "", errEmpty
	case !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl):
		return "", errBinary
	}
	return text, nil
}

// list returns the names in a directory, sorted. With an error it returns those
// that came before it.
func (t tree) list(dir string) ([]string, error) {
	f, err := t.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: errNoDir}
	}
	var names []string
	for len(names) <= maxEntries && err == nil {
		var entries []fs.DirEntry
		entries, err = d.ReadDir(maxEntries + 1 - len(names))
		if len(entries) == 0 && err == nil {
			break
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	if err == io.EOF {
		err = nil
	}
	if len(names) > maxEntries {
		names, err = names[:maxEntries], &fs.PathError{Op: "readdir", Path: dir, Err: errEntries}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// checkFileName reports a name that cannot be one file of a directory. Names in
// sysfs files may hold anything, and must not lead elsewhere.
func checkFileName(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty")
	case len(name) > maxName:
		return fmt.Errorf("it has %d bytes, at most %d are allowed", len(name), maxName)
	case strings.Contains(name, "/"), !fs.ValidPath(name), name == ".":
		return fmt.Errorf("%q must be a single UTF-8 path element", name)
	}
	return nil
}

// leadingNumber returns the number before the colon of texts such as "4: ACTIVE".
// It is between 0 and most.
func leadingNumber(text string, most int) (int, error) {
	digits, _, _ := strings.Cut(text, ":")
	n, err := decimal(strings.TrimSpace(digits))
	if err != nil || n > most {
		return 0, fmt.Errorf("%.40q does not begin with a number from 0 to %d", text, most)
	}
	return n, nil
}

// decimal is [strconv.Atoi] for digits only.
func decimal(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err
}
