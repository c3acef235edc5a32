package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// toBinary returns statements as a binary file, with a block for each so many.
func toBinary(t testing.TB, list []Statement, perBlock int) []byte {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file, Binary)
	for i := range list {
		require.NoError(t, w.Write(&list[i]))
		if perBlock > 0 && i%perBlock == perBlock-1 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

func readAll(r io.Reader) ([]Statement, error) {
	in, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	return in.rest()
}

func TestBinaryAndBack(t *testing.T) {
	list, err := Parse(normal)
	require.NoError(t, err)
	for _, perBlock := range []int{0, 1, 5} {
		file := toBinary(t, list, perBlock)
		for _, r := range []io.Reader{bytes.NewReader(file), iotest.OneByteReader(bytes.NewReader(file))} {
			back, err := readAll(r)
			require.NoError(t, err)
			assert.Equal(t, normal, Print(back))
		}
	}
	back, err := readAll(bytes.NewReader(toBinary(t, nil, 0)))
	assert.NoError(t, err)
	assert.Empty(t, back)
}

// A file that was cut off anywhere is read up to there.
func TestCutOff(t *testing.T) {
	list, err := Parse(normal)
	require.NoError(t, err)
	file := toBinary(t, list, 3)
	most := 0
	for n := len(magic); n < len(file); n++ {
		back, err := readAll(bytes.NewReader(file[:n]))
		var damage *Damage
		require.ErrorAs(t, err, &damage, "%d bytes", n)
		assert.LessOrEqual(t, damage.Offset, int64(n))
		assert.Equal(t, int64(len(back)), damage.Statements)
		assert.GreaterOrEqual(t, len(back), most)
		most = max(most, len(back))
		for i := range back {
			assert.Equal(t, list[i].String(), back[i].String())
		}
	}
	assert.Equal(t, len(list), most)
	_, err = readAll(bytes.NewReader(file[:len(file)-headBytes-4]))
	assert.Error(t, err)
	_, err = readAll(io.LimitReader(bytes.NewReader(file), int64(len(magic))))
	assert.ErrorIs(t, err, ErrCutOff)
}

// No bit can flip without being noticed, and what comes before it is read.
func TestFlippedBits(t *testing.T) {
	list, err := Parse(normal)
	require.NoError(t, err)
	file := toBinary(t, list, 3)
	for i := len(magic); i < len(file); i++ {
		bad := bytes.Clone(file)
		bad[i] ^= 1 << (i % 8)
		back, err := readAll(bytes.NewReader(bad))
		var damage *Damage
		require.ErrorAs(t, err, &damage, "byte %d", i)
		assert.LessOrEqual(t, damage.Offset, int64(i))
		for k := range back {
			require.Equal(t, list[k].String(), back[k].String())
		}
	}
}

func TestDamageSaysWhere(t *testing.T) {
	list, err := Parse(header + "\ntick\ntick\n")
	require.NoError(t, err)
	file := toBinary(t, list, 1)
	file[len(file)-1]++
	_, err = readAll(bytes.NewReader(file))
	assert.EqualError(t, err, "scenario: damage in the block at byte 66, after 2 statements: the checksum of the block does not fit its content; what was read before it is right")
	file = append(toBinary(t, list, 1), 'x')
	_, err = readAll(bytes.NewReader(file))
	assert.ErrorContains(t, err, "something follows the end mark")
	_, err = readAll(iotest.ErrReader(errors.New("disk on fire")))
	assert.EqualError(t, err, "scenario: disk on fire")
}

// A statement that could not be read again is refused, and the file is none the worse.
func TestWriterChecks(t *testing.T) {
	text := func(s string) func(*Statement) {
		return func(x *Statement) { x.Begin(Mark).AddText("text", "x"); x.HasComment, x.Comment = true, s }
	}
	for name, build := range map[string]func(*Statement){
		"scenario: advance lacks its time":                                    func(s *Statement) { s.Begin(Advance) },
		"scenario: advance: time is given twice, or out of order":             func(s *Statement) { s.Begin(Advance).Add("time", 1).Add("time", 2) },
		"scenario: acquire lacks its permit":                                  func(s *Statement) { s.Begin(Acquire).AddText("route", "r").AddText("permit", "p") },
		"scenario: acquire: permit is \"-1\", must be":                        func(s *Statement) { s.Begin(Acquire).Add("permit", -1).AddText("route", "r") },
		"scenario: acquire: route is \"a b\", must be a label":                func(s *Statement) { s.Begin(Acquire).Add("permit", 1).AddText("route", "a b") },
		"scenario: acquire: route is \"17\", must be a label":                 func(s *Statement) { s.Begin(Acquire).Add("permit", 1).AddText("route", "17") },
		"scenario: complete: status is \"4294967296\", must be the number of": func(s *Statement) { s.Begin(Complete).Add("permit", 1).Add("status", 1<<32) },
		"scenario: tick at -1ns":                                              func(s *Statement) { s.Begin(Tick).Stamp(-1) },
		"scenario: comment \" x \"":                                           text(" x "),
		"scenario: comment \"a\\nb\"":                                         text("a\nb"),
		"scenario: tick with an answer":                                       func(s *Statement) { s.Begin(Tick).Answered = true },
	} {
		for _, f := range []Format{Text, Binary} {
			var file bytes.Buffer
			w := NewWriter(&file, f)
			var s Statement
			build(&s)
			assert.ErrorContains(t, w.Write(&s), name)
			require.NoError(t, w.Write(s.Begin(Tick)))
			require.NoError(t, w.Close())
			assert.Error(t, w.Write(&s), "closed")
			back, err := readAll(&file)
			require.NoError(t, err)
			require.Len(t, back, 1)
		}
	}
	assert.Panics(t, func() { new(Statement).Begin(Tick).Add("bytes", 1) })
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestWriterKeepsItsError(t *testing.T) {
	for _, f := range []Format{Text, Binary} {
		w := NewWriter(full{}, f)
		var s Statement
		_ = w.Write(s.Begin(Tick))
		assert.EqualError(t, w.Flush(), "no space")
		assert.EqualError(t, w.Write(s.Begin(Tick)), "no space")
		assert.EqualError(t, w.Close(), "no space")
	}
}

// record writes statements as a recorder does.
func record(w *Writer, n int) error {
	rnd := rand.New(rand.NewPCG(1, 2))
	var s Statement
	now := time.Hour
	for i := range n / 4 {
		now += time.Duration(rnd.IntN(10_000))
		permit, use := int64(rnd.IntN(256)), int64(i)
		s.Begin(Acquire).Stamp(now).Add("permit", permit).Add("route", permit%16).Add("bytes", 64<<10).Add("gen", 1).Add("task", permit%64)
		if err := w.Write(s.Reply("answer", 1).Reply("use", use)); err != nil {
			return err
		}
		if err := w.Write(s.Begin(Post).Stamp(now).Add("permit", permit).Add("qp", 1000+permit%16)); err != nil {
			return err
		}
		if err := w.Write(s.Begin(Tick).Stamp(now)); err != nil {
			return err
		}
		s.Begin(Complete).Stamp(now).Add("permit", permit).Add("status", 0).Add("use", use)
		if err := w.Write(s.Reply("edges", 3)); err != nil {
			return err
		}
	}
	return w.Close()
}

func BenchmarkWrite(b *testing.B) {
	for _, f := range []Format{Text, Binary} {
		b.Run([]string{"text", "binary"}[f], func(b *testing.B) {
			b.ReportAllocs()
			var file bytes.Buffer
			require.NoError(b, record(NewWriter(&file, f), b.N))
			b.ReportMetric(float64(file.Len())/float64(b.N), "B/statement")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, f := range []Format{Text, Binary} {
		b.Run([]string{"text", "binary"}[f], func(b *testing.B) {
			var file bytes.Buffer
			require.NoError(b, record(NewWriter(&file, f), b.N))
			b.ReportAllocs()
			b.ResetTimer()
			r, err := NewReader(&file)
			if err == io.EOF {
				return
			}
			require.NoError(b, err)
			var s Statement
			for err = r.Next(&s); err == nil; err = r.Next(&s) {
			}
			require.Equal(b, io.EOF, err)
		})
	}
}

func ExampleWriter() {
	var text strings.Builder
	w := NewWriter(&text, Text)
	var s Statement
	s.Begin(Acquire).Stamp(1500*time.Millisecond).AddText("permit", "p1").AddText("route", "r").Add("bytes", 64<<10)
	_ = w.Write(s.Reply("answer", 2).Reply("reason", 1).Reply("domain", 1))
	_ = w.Close()
	fmt.Print(text.String())
	// Output:
	// scenario 1
	// @1.5s acquire p1 r 64KiB -> defer BYTE_WINDOW domain=route
}
