package cc

// hold is whether a permit is acquired, and neither posted nor given back yet.
type hold uint8

const (
	free hold = iota
	reserved
	reservedRecorded // and the calls for it are recorded
)

// calls is what calls of a permit, or on a route, are taken for.
type calls uint8

const (
	usual    calls = iota
	off            // in mode off nothing is kept
	recorded       // on a route: there is a recorder
	nested         // of a permit: they are a part of one that is recorded
)
