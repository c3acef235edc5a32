package recorder

import (
	"fmt"
	"io"
)

// temporary
type statements struct{ w io.Writer }

func newStatements(w io.Writer, f Format) *statements { return &statements{w} }
func (s *statements) begin(settings []Setting, serial, complete bool, routes []knownRoute) error {
	_, err := fmt.Fprintln(s.w, settings, serial, complete)
	return err
}
func (s *statements) entry(e any) error { _, err := fmt.Fprintf(s.w, "%T %+v\n", e, e); return err }
func (s *statements) flush() error      { return nil }
func (s *statements) end(remark string) error {
	_, err := fmt.Fprintln(s.w, remark)
	return err
}
