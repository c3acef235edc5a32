package rail

import "github.com/rdmagate/rdmagate/internal/enum"

// MarshalText returns the link layer's name, such as Ethernet.
func (l Link) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (l *Link) UnmarshalText(text []byte) error { return enum.Parse(l, text, LinkEthernet) }

// MarshalText returns the match's text, such as "same name".
func (m Match) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Match) UnmarshalText(text []byte) error { return enum.Parse(m, text, SamePosition) }

// MarshalText returns the exclusion's text, such as "other subnet".
func (e Exclusion) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (e *Exclusion) UnmarshalText(text []byte) error { return enum.Parse(e, text, OtherSubnet) }

// MarshalText returns the standing's name, such as suspect.
func (s Standing) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Standing) UnmarshalText(text []byte) error { return enum.Parse(s, text, Paused) }

// MarshalText returns the outcome's text, such as "all paused".
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (o *Outcome) UnmarshalText(text []byte) error { return enum.Parse(o, text, Found) }
