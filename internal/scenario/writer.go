package scenario

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Format is the form that statements are written in.
type Format uint8

const (
	// Text is for people.
	Text Format = iota
	// Binary is smaller and faster, and tells whether something is missing.
	Binary
)

// Writer writes statements, as text or in the binary form. Its memory is bounded, and it
// keeps nothing of a statement. It is not safe for concurrent use.
type Writer struct {
	format  Format
	block   blockWriter
	enc     encoder // of the present block
	count   uint64  // statements in the blocks before
	text    []byte
	begun   bool
	blank   bool // a blank line waits for what follows it
	err     error
	scratch Statement
}

// NewWriter begins a file. Nothing is written before the first statement.
func NewWriter(w io.Writer, f Format) *Writer {
	return &Writer{format: f, block: blockWriter{w: w}, enc: encoder{refs: map[string]uint64{}}}
}

// Write appends a statement. A statement that could not be read again as it is gives an
// error, and is left out. Of blank lines that follow each other one is kept, of those at
// the end none.
//
// It reaches the file when there is enough for a block, or at Flush. After an error of the
// writer below every call returns that.
func (w *Writer) Write(s *Statement) error {
	if w.err != nil {
		return w.err
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("scenario: %w", err)
	}
	if s.Kind == nil && !s.HasComment {
		w.blank = w.begun
		return nil
	}
	if w.blank {
		w.blank = false
		_ = w.add(w.scratch.Begin(nil))
	}
	if err := w.add(s); err != nil {
		return err
	}
	if len(w.enc.buf)+len(w.text) >= fullBlock {
		return w.Flush()
	}
	return nil
}

// add appends what is right. A line of text that no reader takes is left out.
func (w *Writer) add(s *Statement) error {
	switch {
	case w.format == Binary:
		if !w.begun {
			_, w.err = io.WriteString(w.block.w, magic)
		}
		w.enc.add(s)
	default:
		if !w.begun {
			w.text, w.begun = append(w.text, header+"\n"...), true
		}
		begin := len(w.text)
		w.text = append(appendStatement(w.text, s), '\n')
		if n := len(w.text) - begin; n > maxLine {
			text := string(w.text[begin : begin+40])
			w.text = w.text[:begin]
			return fmt.Errorf("scenario: %.40q would be a line of %d bytes: at most %d; use several statements, or the binary form", text, n, maxLine)
		}
	}
	w.begun = true
	return nil
}

// Flush ends the present block, so that what was written can be read. In the binary form
// each costs about 20 bytes and the texts anew: a recorder calls it about once in a second.
func (w *Writer) Flush() error {
	switch {
	case w.err != nil:
	case w.format == Text && len(w.text) > 0:
		_, w.err = w.block.w.Write(w.text)
		w.text = w.text[:0]
	case w.format == Binary && w.enc.count > 0:
		w.err = w.block.write(statementsBlock, w.enc.buf)
		w.count += w.enc.count
		w.enc.reset()
	}
	return w.err
}

// Close writes what is left and, in the binary form, a mark that nothing is missing. It
// does not close the writer below.
func (w *Writer) Close() error {
	if !w.begun && w.err == nil {
		w.begun = true
		if w.format == Text {
			w.text = append(w.text, header+"\n"...)
		} else {
			_, w.err = io.WriteString(w.block.w, magic)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if w.format == Binary {
		w.err = w.block.write(endBlock, binary.AppendUvarint(nil, w.count))
	}
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("scenario: the writer was closed")
	return nil
}
