package classify

// MarshalText gives the class's name, so that it reads well in JSON and logs.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MarshalText gives the scope's name, so that it reads well in JSON and logs.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText gives the action's text, so that it reads well in JSON and logs.
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// MarshalText gives the source's name, so that it reads well in JSON and logs.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText gives the reason's name, such as BYTE_WINDOW, so that it reads well
// in JSON and logs.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
