package scenario

import (
	"errors"
	"fmt"
)

// MaxFaults is how many faults of a text are told.
const MaxFaults = 1000

// MoreFaults is how many faults a text has beside those that are told.
type MoreFaults int

func (m MoreFaults) Error() string { return fmt.Sprintf("and %d more faults", int(m)) }

// Faults gathers what [Reader.Next] says of the lines of a text: the first [MaxFaults]
// faults, and how many more there are. The zero value is empty.
type Faults struct {
	list []error
	more MoreFaults
}

// Add takes in an error, or each of those that are joined in it.
func (f *Faults) Add(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			f.Add(e)
		}
		return
	}
	more, isCount := err.(MoreFaults)
	switch {
	case isCount:
		f.more += more
	case len(f.list) < MaxFaults:
		f.list = append(f.list, err)
	default:
		f.more++
	}
}

// Any reports whether there is a fault.
func (f *Faults) Any() bool { return len(f.list) > 0 || f.more > 0 }

// Err joins the faults, with a [MoreFaults] at the end if there are more; nil if there is
// none.
func (f *Faults) Err() error {
	if f.more > 0 {
		return errors.Join(append(f.list[:len(f.list):len(f.list)], f.more)...)
	}
	return errors.Join(f.list...)
}
