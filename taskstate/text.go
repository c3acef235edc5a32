package taskstate

import "github.com/rdmagate/rdmagate/internal/enum"

// MarshalText returns the state's name, such as CONGESTED.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(s, text, LongUnavailable) }

// MarshalText returns the guidance's name, such as "back off".
func (g Guidance) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (g *Guidance) UnmarshalText(text []byte) error { return enum.Parse(g, text, TryElsewhere) }
