package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// source is a file that is read, some times more than once.
type source struct {
	name  string // for messages
	file  *os.File
	size  int64 // 0 if it is not known
	input io.Reader
	err   io.Writer
	spool bool // the file is a copy, to be removed
}

// source opens a file. One that is read again has to be a regular file: another one is
// copied.
func (r *runner) source(name string, again bool) (*source, error) {
	s := &source{name: name, input: r.stdin, err: r.err}
	if name == "-" {
		s.name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("cannot read FILE: %w", err)
		}
		s.file, s.input = f, f
		info, err := f.Stat()
		switch {
		case err != nil:
			return nil, errors.Join(err, f.Close())
		case info.IsDir():
			return nil, errors.Join(fmt.Errorf("%s is a folder; give the files in it", name), f.Close())
		case info.Mode().IsRegular():
			s.size = info.Size()
			return s, nil
		}
	}
	if !again {
		return s, nil
	}
	return s, s.copy()
}

// copy copies the input to a file of its own.
func (s *source) copy() error {
	f, err := os.CreateTemp("", "replay-*")
	if err != nil {
		return fmt.Errorf("cannot keep a copy of %s, which is read twice: %w", s.name, err)
	}
	old := s.file
	s.file, s.spool = f, true
	if s.size, err = io.Copy(f, s.input); err != nil {
		s.close()
		return fmt.Errorf("cannot keep a copy of %s, which is read twice: %w", s.name, err)
	}
	s.input = f
	if old != nil {
		return old.Close()
	}
	return nil
}

func (s *source) close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	if s.spool {
		_ = os.Remove(s.file.Name())
	}
}

// reader begins to read from the beginning. Readers of one source may be used at the same
// time, unless it is a stream.
func (s *source) reader(what string) (*scenario.Reader, error) {
	in := s.input
	if s.size > 0 {
		in = io.NewSectionReader(s.file, 0, s.size)
	}
	if what != "" {
		in = &progress{in: in, name: s.name, what: what, size: s.size, out: s.err, begun: time.Now()}
	}
	r, err := scenario.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return r, nil
}

// run runs the file. The error is a [scenario.Damage] if it could be read as far as that,
// and else says why it could not be read.
func (s *source) run(what string, o replay.Options) (*replay.Result, error) {
	in, err := s.reader(what)
	if err != nil {
		return nil, err
	}
	result, err := replay.Run(in, o)
	return result, s.named(err)
}

// named gives each of the errors that are joined the file's name.
func (s *source) named(err error) error {
	if err == nil {
		return nil
	}
	const most = 20 // faults to tell
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	list := joined.Unwrap()
	var named []error
	for _, e := range list[:min(len(list), most)] {
		named = append(named, s.named(e))
	}
	more := scenario.MoreFaults(len(list) - most)
	if untold, ok := list[len(list)-1].(scenario.MoreFaults); ok {
		more += untold - 1
	}
	if more > 0 {
		named = append(named, fmt.Errorf("%s: %w", s.name, more))
	}
	return errors.Join(named...)
}

// damaged returns the damage of a binary file, nil if err is something else.
func damaged(err error) *scenario.Damage {
	var d *scenario.Damage
	if errors.As(err, &d) {
		return d
	}
	return nil
}

// progress tells how far a long file was read.
type progress struct {
	in         io.Reader
	name, what string
	read, size int64
	out        io.Writer
	begun      time.Time
	told       time.Duration
}

// patience is how long nothing is told, and how often it is then.
const patience = 3 * time.Second

func (p *progress) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	p.read += int64(n)
	if took := time.Since(p.begun); took >= p.told+patience && p.read != p.size {
		p.told = took
		part := ""
		if p.size > 0 {
			part = fmt.Sprintf(" (%d%%)", 100*p.read/p.size)
		}
		fmt.Fprintf(p.out, "replay: %s: %s: %s%s read in %.0f s\n", p.name, p.what, bytesText(p.read), part, took.Seconds())
	}
	return n, err
}
