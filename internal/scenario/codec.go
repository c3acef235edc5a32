package scenario

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// A statement in the binary form is
//
//	code of its kind, or one of the two below
//	flags
//	if timed: the time since that of the statement before, zigzag
//	the number of arguments, and each of them:
//	    place of the parameter << 3 | comparison
//	    a text as a reference, a label as one << 1 or as its number << 1 | 1,
//	    and anything else as a number
//	if answered: the answers in the same way
//	if commented: the comment as a text
//
// All numbers are varints. A reference is 0 and a new text (its length and its bytes), or
// the number of a text that came before in the same block, from 1. Comments are not
// numbered.
const (
	flagTimed = 1 << iota
	flagAnswered
	flagCommented
	flagsKnown = 1<<iota - 1
)

// plainCode is the code of a blank line and of a comment alone.
const plainCode = 0

const (
	maxArgs = 1 << 16
	maxText = 1 << 16
)

// encoder turns statements into bytes, as far as one block.
type encoder struct {
	buf   []byte
	refs  map[string]uint64
	last  time.Duration
	count uint64
}

func (e *encoder) reset() {
	e.buf, e.last, e.count = e.buf[:0], 0, 0
	clear(e.refs)
}

func (e *encoder) uvarint(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }

// add appends a statement that was checked.
func (e *encoder) add(s *Statement) {
	code, flags := uint8(plainCode), byte(0)
	if s.Kind != nil {
		code = s.Kind.Code
	}
	if s.Timed {
		flags |= flagTimed
	}
	if s.Answered {
		flags |= flagAnswered
	}
	if s.HasComment {
		flags |= flagCommented
	}
	e.buf = append(e.buf, code, flags)
	if s.Timed {
		e.buf = binary.AppendVarint(e.buf, int64(s.At-e.last))
		e.last = s.At
	}
	if s.Kind != nil {
		e.args(s.Args)
		if s.Answered {
			e.args(s.Answer)
		}
	}
	if s.HasComment {
		e.text(s.Comment)
	}
	e.count++
}

func (e *encoder) args(list []Arg) {
	e.uvarint(uint64(len(list)))
	for i := range list {
		a := &list[i]
		e.uvarint(uint64(a.Param.index)<<3 | uint64(a.Op))
		switch {
		case a.Param.Type == Label && a.Text == "":
			e.uvarint(uint64(a.Num)<<1 | 1)
		case a.Param.Type == Label:
			e.reference(a.Text, 1)
		case a.Param.Type == String:
			e.reference(a.Text, 0)
		default:
			e.uvarint(uint64(a.Num))
		}
	}
}

// reference appends the number of a text, shifted, and a text that is new.
func (e *encoder) reference(text string, shift int) {
	ref := e.refs[text]
	e.uvarint(ref << shift)
	if ref == 0 {
		e.refs[text] = uint64(len(e.refs)) + 1
		e.text(text)
	}
}

func (e *encoder) text(text string) {
	e.uvarint(uint64(len(text)))
	e.buf = append(e.buf, text...)
}

// decoder turns the bytes of one block into statements.
type decoder struct {
	buf   []byte
	at    int
	texts []string
	last  time.Duration
	bad   bool
}

func (d *decoder) reset(block []byte) {
	d.buf, d.at, d.texts, d.last, d.bad = block, 0, d.texts[:0], 0, false
}

func (d *decoder) byte() byte {
	if d.at >= len(d.buf) {
		d.bad = true
		return 0
	}
	d.at++
	return d.buf[d.at-1]
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.buf[d.at:])
	if size <= 0 {
		d.bad, d.at = true, len(d.buf)
		return 0
	}
	d.at += size
	return n
}

// text reads a length and so many bytes.
func (d *decoder) text() string {
	n := d.uvarint()
	if n > maxText || n > uint64(len(d.buf)-d.at) {
		d.bad = true
		return ""
	}
	d.at += int(n)
	return string(d.buf[d.at-int(n) : d.at])
}

// reference reads the text of a reference.
func (d *decoder) reference(n uint64) string {
	switch {
	case n == 0:
		text := d.text()
		d.texts = append(d.texts, text)
		return text
	case n > uint64(len(d.texts)):
		d.bad = true
		return ""
	}
	return d.texts[n-1]
}

var errDecode = errors.New("it has no form of a statement")

// next reads a statement and checks it.
func (d *decoder) next(s *Statement) error {
	code, flags := d.byte(), d.byte()
	s.Begin(byCode[code])
	if code != plainCode && s.Kind == nil || flags > flagsKnown || code == plainCode && flags&^flagCommented != 0 {
		return errDecode
	}
	if flags&flagTimed != 0 {
		delta, size := binary.Varint(d.buf[d.at:])
		if size <= 0 {
			return errDecode
		}
		d.at += size
		d.last += time.Duration(delta)
		s.Stamp(d.last)
	}
	if s.Kind != nil {
		s.Args = d.args(s.Args, s.Kind.Params)
		if s.Answered = flags&flagAnswered != 0; s.Answered {
			s.Answer = d.args(s.Answer, s.Kind.Answers)
		}
	}
	if s.HasComment = flags&flagCommented != 0; s.HasComment {
		s.Comment = d.text()
	}
	if d.bad {
		return errDecode
	}
	return s.check()
}

func (d *decoder) args(args []Arg, params []Param) []Arg {
	n := d.uvarint()
	if n > maxArgs {
		d.bad = true
	}
	for ; n > 0 && !d.bad; n-- {
		head := d.uvarint()
		if head>>3 >= uint64(len(params)) || Op(head&7) > AtLeast {
			d.bad = true
			break
		}
		a := Arg{Param: &params[head>>3], Op: Op(head & 7)}
		num := d.uvarint()
		switch {
		case a.Param.Type == Label && num&1 != 0:
			a.Num = int64(num >> 1)
		case a.Param.Type == Label:
			if a.Text = d.reference(num >> 1); a.Text == "" {
				d.bad = true
			}
		case a.Param.Type == String:
			a.Text = d.reference(num)
		case a.Param.Type != Number && num > math.MaxInt64:
			d.bad = true
		default:
			a.Num = int64(num)
		}
		args = append(args, a)
	}
	return args
}
