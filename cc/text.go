package cc

import "github.com/rdmagate/rdmagate/internal/enum"

// In JSON and logs enumerations are the names that String returns.

// MarshalText returns the mode's name, such as enforce.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Mode) UnmarshalText(text []byte) error { return enum.Parse(m, text, Enforce) }

// MarshalText returns the law's name, such as epoch.
func (l Law) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (l *Law) UnmarshalText(text []byte) error { return enum.Parse(l, text, LawRound) }

// MarshalText returns the pressure's name, such as high.
func (p Pressure) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (p *Pressure) UnmarshalText(text []byte) error { return enum.Parse(p, text, PressureVoid) }

// MarshalText returns the state's name, such as QUARANTINED.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(s, text, Probing) }

// MarshalText returns the notice's text, such as "persistent fault".
func (n Notice) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (n *Notice) UnmarshalText(text []byte) error { return enum.Parse(n, text, DeviceExhausted) }

// MarshalText returns the answer's name, such as defer.
func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Answer) UnmarshalText(text []byte) error { return enum.Parse(a, text, Avoid) }

// MarshalText returns the domain's name, such as route.
func (d Domain) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Domain) UnmarshalText(text []byte) error { return enum.Parse(d, text, DeviceDomain) }

// MarshalText returns the hint's name, such as divert.
func (h Hint) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (h *Hint) UnmarshalText(text []byte) error { return enum.Parse(h, text, NeedRenew) }
