package chaos

import (
	"fmt"
	"strings"
)

// Kind is a kind of fault.
type Kind uint8

// The kinds of faults.
const (
	Block Kind = iota
	Flap
	BlackHole
	Hang
	LinkDown
	Rate
	Delay
	Loss
	KillQP
	DestroyEndpoint
	StaleKey
	ShallowQueue
	StallPoller
	RefusePost
	Cancel
	Rebuild
	GIDChange
	Restart
	DeviceFatal
	kinds
)

// place says which fields of a fault name where it is.
type place uint8

const (
	onPair   place = iota // Peer, Local, Remote; Back: what the peer sends to us
	onNIC                 // Far: Peer and Remote, else Local
	onRoute               // Peer, Local, Remote
	onDevice              // Local
	onPeer                // Peer
	onWorker              // Worker
	onTasks               // nowhere
)

// trait is what is known of a kind.
type trait struct {
	name string
	what string
	at   place
	// blames: evidence against the paths that it reaches is right. What does not blame
	// must not take any path out of service.
	blames bool
	// instant: it has no length.
	instant bool
	// amount is the range of Fault.Amount, uniform in the logarithm; 0, 0 if it has
	// none, or if the pace says.
	least, most float64
}

var traits = [kinds]trait{
	Block:           {name: "block", what: "drops what one NIC sends to another", at: onPair, blames: true},
	Flap:            {name: "flap", what: "a pair is blocked for four probe intervals, works for so many, and so on", at: onPair, blames: true, least: 1, most: 4},
	BlackHole:       {name: "black-hole", what: "work requests on a pair hang without an error", at: onPair, blames: true},
	Hang:            {name: "hang", what: "a black hole, and QPs that do not flush: they have to be destroyed", at: onPair, blames: true},
	LinkDown:        {name: "link-down", what: "a port goes down", at: onNIC, blames: true},
	Rate:            {name: "rate", what: "a NIC takes in so many bytes/s", at: onNIC, blames: true},
	Delay:           {name: "delay", what: "what a NIC takes in comes later, by so many microseconds", at: onNIC, blames: true, least: 200, most: 50000},
	Loss:            {name: "loss", what: "a NIC loses so many percent of what comes in", at: onNIC, blames: true, least: 1, most: 100},
	KillQP:          {name: "kill-qp", what: "so many QPs of the engine on a pair move to ERR, each when something was just posted", at: onRoute, least: 1, most: 12},
	DestroyEndpoint: {name: "destroy-endpoint", what: "the peer's QPs of a pair are destroyed", at: onRoute, blames: true, instant: true},
	StaleKey:        {name: "stale-key", what: "the peer honours no rkey on a pair", at: onRoute},
	ShallowQueue:    {name: "shallow-queue", what: "send queues of a device hold one work request", at: onDevice},
	StallPoller:     {name: "stall-poller", what: "a worker stands still", at: onWorker},
	RefusePost:      {name: "refuse-post", what: "the verb refuses every post on a pair", at: onRoute},
	Cancel:          {name: "cancel", what: "so many transfers are cancelled", at: onTasks, instant: true, least: 1, most: 4},
	Rebuild:         {name: "rebuild", what: "all endpoints of a device are built again", at: onDevice, instant: true},
	GIDChange:       {name: "gid-change", what: "a NIC gets a further address", at: onNIC},
	Restart:         {name: "restart", what: "a peer's server ends and is started again", at: onPeer, blames: true},
	DeviceFatal:     {name: "device-fatal", what: "a device reports DEVICE_FATAL", at: onDevice, blames: true, instant: true},
}

// Kinds lists all kinds.
func Kinds() []Kind {
	list := make([]Kind, kinds)
	for i := range list {
		list[i] = Kind(i)
	}
	return list
}

// String returns the name, such as "black-hole".
func (k Kind) String() string {
	if k >= kinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return traits[k].name
}

// What says what the fault does.
func (k Kind) What() string { return traits[k].what }

// Blames reports whether paths may be taken out of service for it.
func (k Kind) Blames() bool { return traits[k].blames }

// MarshalText gives the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes a name.
func (k *Kind) UnmarshalText(text []byte) error {
	var names []string
	for i, t := range traits {
		if t.name == string(text) {
			*k = Kind(i)
			return nil
		}
		names = append(names, t.name)
	}
	return fmt.Errorf("chaos: there is no fault %q; use one of %s", text, strings.Join(names, ", "))
}
