// Package enum reads the values of enumerations from their names.
package enum

import (
	"fmt"
	"strings"
)

// Parse sets v to the value from 0 to last whose name, which String returns, is the
// text. If there is none it returns an error that lists the names, and changes
// nothing.
func Parse[T interface {
	~uint8 | ~uint32
	fmt.Stringer
}](v *T, text []byte, last T) error {
	var known []string
	for i := T(0); i <= last; i++ {
		name := i.String()
		if name == string(text) {
			*v = i
			return nil
		}
		known = append(known, name)
	}
	pkg, name, _ := strings.Cut(fmt.Sprintf("%T", last), ".")
	return fmt.Errorf("%s: %.40q is no %s; use one of: %s", pkg, text, name, strings.Join(known, "; "))
}
