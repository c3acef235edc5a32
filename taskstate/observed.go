package taskstate

import (
	"encoding/json"
	"fmt"
)

// Observed is a value that may not have been observed. The zero value was not;
// a value that was observed to be zero is a different thing.
//
// As text an unobserved value reads "not observed", in JSON it is null.
type Observed[T any] struct {
	value T
	seen  bool
}

// Seen returns v as a value that was observed.
func Seen[T any](v T) Observed[T] { return Observed[T]{value: v, seen: true} }

// Get returns the value and whether it was observed. If not, it is T's zero value.
func (o Observed[T]) Get() (T, bool) { return o.value, o.seen }

// String returns the value as text, or "not observed".
func (o Observed[T]) String() string {
	if !o.seen {
		return "not observed"
	}
	return fmt.Sprint(o.value)
}

// MarshalJSON returns the value's JSON, or null.
func (o Observed[T]) MarshalJSON() ([]byte, error) {
	if !o.seen {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value, or null.
func (o *Observed[T]) UnmarshalJSON(data []byte) error {
	var in *T
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if *o = (Observed[T]{}); in != nil {
		*o = Seen(*in)
	}
	return nil
}
