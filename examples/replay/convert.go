package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// convert writes a file in the form that -print names.
func (r *runner) convert(src *source) int {
	return r.rewrite(src, func(*scenario.Statement) error { return nil })
}

// form is the one that is written: that of the file unless -print names another one.
func (r *runner) form(of scenario.Format) scenario.Format {
	switch r.print {
	case "text":
		return scenario.Text
	case "binary":
		return scenario.Binary
	}
	return of
}

// rewrite writes what it reads, after change had each statement.
func (r *runner) rewrite(src *source, change func(*scenario.Statement) error) int {
	in, err := src.reader("read")
	if err != nil {
		return r.trouble(err)
	}
	out := scenario.NewWriter(r.out, r.form(in.Format()))
	var s scenario.Statement
	var faults scenario.Faults
	for {
		err = in.Next(&s)
		if fault := (*scenario.Fault)(nil); errors.As(err, &fault) {
			faults.Add(err)
			continue
		}
		if err != nil {
			break
		}
		if faults.Any() {
			continue // only to tell all of them
		}
		if err := change(&s); err != nil {
			return r.trouble(fmt.Errorf("%s: %w", place{src.name, in.Format()}.line(s.Line), err))
		}
		if err := out.Write(&s); err != nil {
			return r.trouble(fmt.Errorf("%s: %w", place{src.name, in.Format()}.line(s.Line), err))
		}
	}
	status := 0
	switch {
	case faults.Any():
		return r.trouble(src.named(faults.Err()))
	case damaged(err) != nil:
		r.say("%v", src.named(err))
		status = exitMismatch
	case err != io.EOF:
		return r.trouble(src.named(err))
	}
	if err := out.Close(); err != nil {
		return r.trouble(err)
	}
	return status
}
