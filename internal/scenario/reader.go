package scenario

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is the longest line of a text, in bytes.
const maxLine = 1 << 20

// Damage is why a binary file could not be read to its end. What was read before is right.
type Damage struct {
	// Offset is where the block begins that could not be read, in bytes.
	Offset int64
	// Statements is how many were read before it.
	Statements int64
	// Err says what is wrong there.
	Err error
}

func (d *Damage) Error() string {
	return fmt.Sprintf("scenario: damage in the block at byte %d, after %d statements: %v; what was read before it is right", d.Offset, d.Statements, d.Err)
}

func (d *Damage) Unwrap() error { return d.Err }

// ErrCutOff is wrapped by the [Damage] of a binary file that ends without its end mark: it
// was cut off, or is still being written.
var ErrCutOff = errors.New("the file ends without its end mark: it was cut off, or is still being written")

// Reader reads statements from a text or a binary file. Its memory is bounded. It is not
// safe for concurrent use.
type Reader struct {
	format Format
	r      *bufio.Reader
	line   int   // of a text
	count  int64 // statements of a binary file
	blocks blockReader
	dec    decoder
	err    error // what every call returns from now on
}

// NewReader finds out whether it is text or binary, and reads the first line. The error
// says what is wrong with it.
func NewReader(r io.Reader) (*Reader, error) {
	b := bufio.NewReaderSize(r, fullBlock)
	begin, err := b.Peek(len(magic))
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	if string(begin) == magic {
		_, _ = b.Discard(len(magic))
		return &Reader{format: Binary, r: b, blocks: blockReader{r: b, next: int64(len(magic))}}, nil
	}
	if len(begin) == len(magic) && string(begin[:6]) == magic[:6] {
		return nil, fmt.Errorf("scenario: binary file of version %d; this reads version 1", begin[len(magic)-2])
	}
	t := &Reader{r: b}
	first, err := t.readLine()
	if err != nil && err != io.EOF {
		return nil, err
	}
	if first = strings.TrimRight(first, " \t\r"); first != header {
		return nil, &Fault{1, 1, fmt.Sprintf("the first line is %.40q, must be %q: the version of the language", first, header)}
	}
	return t, nil
}

// Format returns whether it is text or binary.
func (r *Reader) Format() Format { return r.format }

// Next reads the next statement into s, whose memory is used again. At the end it returns
// io.EOF. A [Fault], or several that are joined, is of one line of a text: the next call
// goes on behind it. A [Damage] is for ever.
func (r *Reader) Next(s *Statement) error {
	if r.err != nil {
		return r.err
	}
	if r.format == Binary {
		return r.nextBinary(s)
	}
	line, err := r.readLine()
	if err != nil {
		if fault := (*Fault)(nil); !errors.As(err, &fault) {
			r.err = err
		}
		return err
	}
	return parseLine(s, line, r.line)
}

// readLine returns the next line without its end.
func (r *Reader) readLine() (string, error) {
	r.line++
	part, err := r.r.ReadSlice('\n')
	if err == nil {
		return string(part[:len(part)-1]), nil
	}
	line := append([]byte(nil), part...)
	for err == bufio.ErrBufferFull {
		part, err = r.r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
	}
	switch {
	case err != nil && err != io.EOF:
		return "", fmt.Errorf("scenario: %w", err)
	case len(line) > maxLine:
		return "", &Fault{r.line, 1, fmt.Sprintf("the line is longer than %d bytes; is it the right file?", maxLine)}
	case err == io.EOF && len(line) == 0:
		return "", io.EOF
	}
	return strings.TrimSuffix(string(line), "\n"), nil
}

func (r *Reader) nextBinary(s *Statement) error {
	for r.dec.at >= len(r.dec.buf) {
		kind, content, err := r.blocks.read()
		switch {
		case err == io.EOF:
			return r.damaged(ErrCutOff)
		case err != nil:
			return r.damaged(err)
		case kind == endBlock:
			return r.end(content)
		}
		r.dec.reset(content)
	}
	if err := r.dec.next(s); err != nil {
		return r.damaged(err)
	}
	r.count++
	s.Line = int(r.count)
	return nil
}

func (r *Reader) damaged(err error) error {
	r.err = &Damage{r.blocks.offset, r.count, err}
	return r.err
}

// end reads the end mark.
func (r *Reader) end(content []byte) error {
	if n, size := binary.Uvarint(content); size <= 0 || n != uint64(r.count) {
		return r.damaged(fmt.Errorf("the end mark says %d statements; some are missing", n))
	}
	if _, err := r.r.ReadByte(); err != io.EOF {
		return r.damaged(errors.New("something follows the end mark"))
	}
	r.err = io.EOF
	return io.EOF
}

// rest reads all that is left. The error joins every fault.
func (r *Reader) rest() (all []Statement, err error) {
	var faults Faults
	for {
		var s Statement
		switch err := r.Next(&s); {
		case err == nil:
			all = append(all, s)
		case err == io.EOF:
			return all, faults.Err()
		default:
			faults.Add(err)
			if r.err != nil {
				return all, faults.Err()
			}
		}
	}
}
