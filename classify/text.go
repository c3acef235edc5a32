package classify

import "github.com/rdmagate/rdmagate/internal/enum"

// In JSON and logs enumerations are the names that String returns.

// MarshalText returns the class's name, such as RouteTimeout.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Class) UnmarshalText(text []byte) error { return enum.Parse(c, text, ClassConnection) }

// MarshalText returns the scope's name.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Scope) UnmarshalText(text []byte) error { return enum.Parse(s, text, ScopeDevice) }

// MarshalText returns the action's text, such as "retire the QP".
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(a, text, ActionReconnect) }

// MarshalText returns the source's name.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Source) UnmarshalText(text []byte) error { return enum.Parse(s, text, SourceCMEvent) }

// MarshalText returns the reason's name, such as BYTE_WINDOW.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(r, text, ReasonFatal) }

// MarshalText returns the signal's name, such as "QP torn down".
func (s Signal) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Signal) UnmarshalText(text []byte) error { return enum.Parse(s, text, SignalNoRail) }
