package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// Duration is a time.Duration that JSON has as text, such as "1.5s".
type Duration time.Duration

// String returns it as time.Duration does.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText gives the text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes the text.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Fault is one thing that goes wrong. Which of the places mean something is up to the
// kind; the others are 0.
type Fault struct {
	Kind Kind `json:"kind"`
	// At is when it begins, For how long it lasts.
	At  Duration `json:"at"`
	For Duration `json:"for,omitempty"`
	// Peer, Local and Remote are the numbers of a peer, of a NIC of host A and of a NIC of
	// the peer. Far: it is the peer's NIC; Back: it is what the peer's NIC sends to ours.
	Peer   int  `json:"peer,omitempty"`
	Local  int  `json:"local,omitempty"`
	Remote int  `json:"remote,omitempty"`
	Far    bool `json:"far,omitempty"`
	Back   bool `json:"back,omitempty"`
	Worker int  `json:"worker,omitempty"`
	// Amount is as the kind says.
	Amount float64 `json:"amount,omitempty"`
}

// String describes the fault in a line.
func (f Fault) String() string {
	text := fmt.Sprintf("%8.3fs %-16s %s", time.Duration(f.At).Seconds(), f.Kind, f.where())
	if f.Amount != 0 {
		text += fmt.Sprintf(" (%.4g)", f.Amount)
	}
	if f.For != 0 {
		text += " for " + f.For.String()
	}
	return text
}

func (f Fault) where() string {
	pair := func(arrow string) string { return fmt.Sprintf("a%d%sp%d.%d", f.Local, arrow, f.Peer, f.Remote) }
	switch traits[f.Kind].at {
	case onPair:
		if f.Back {
			return pair("<-")
		}
		return pair("->")
	case onRoute:
		return pair("--")
	case onNIC:
		if f.Far {
			return fmt.Sprintf("p%d.%d", f.Peer, f.Remote)
		}
		return fmt.Sprintf("a%d", f.Local)
	case onDevice:
		return fmt.Sprintf("a%d", f.Local)
	case onPeer:
		return fmt.Sprintf("p%d", f.Peer)
	case onWorker:
		return fmt.Sprintf("worker %d", f.Worker)
	}
	return "tasks"
}

// end is when the fault is over.
func (f Fault) end() time.Duration { return time.Duration(f.At + f.For) }

// target is what two faults of one kind must not have in common at one time.
func (f Fault) target() Fault {
	f.At, f.For, f.Amount = 0, 0, 0
	return f
}

// Setup is what a schedule runs on.
type Setup struct {
	// NICs is how many NICs a side has, the management NIC among them; Peers is how many
	// servers there are.
	NICs    int `json:"nics"`
	Peers   int `json:"peers"`
	Workers int `json:"workers"`
	// Law moves the windows: "epoch" or "round".
	Law string `json:"law"`
	// Streams is how many transfers are under way at once, of up to MaxBytes each, with a
	// pause of Think between two of a stream, on average.
	Streams  int      `json:"streams"`
	MaxBytes int      `json:"max_bytes"`
	Think    Duration `json:"think"`
}

// Schedule is what goes wrong in a round. It travels as JSON.
type Schedule struct {
	// Seed is that of the payloads and of everything else that is random.
	Seed   uint64 `json:"seed"`
	Fabric string `json:"fabric"` // "sim" or "guest"
	Setup  Setup  `json:"setup"`
	// Length is how long faults may last.
	Length Duration `json:"length"`
	Faults []Fault  `json:"faults"` // by At
}

// String prints the schedule, a fault a line.
func (s Schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, seed %d: %d+1 NICs a side, %d peers, %d workers, %d streams of up to %d bytes, law %s, %v\n", s.Fabric, s.Seed,
		s.Setup.NICs-1, s.Setup.Peers, s.Setup.Workers, s.Setup.Streams, s.Setup.MaxBytes, s.Setup.Law, s.Length)
	for _, f := range s.Faults {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

// leastBytes is the length of the shortest transfer.
const leastBytes = 4 << 10

// Validate reports every fault of the schedule itself, joined into one error, or nil.
func (s Schedule) Validate() error {
	var faults []error
	bad := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("chaos: schedule: "+format, args...))
	}
	n := s.Setup
	if s.Fabric != "sim" && s.Fabric != "guest" {
		bad("fabric %q; use sim or guest", s.Fabric)
	}
	if n.NICs < 2 || n.NICs > 16 || n.Peers < 1 || n.Peers > 8 || n.Workers < 1 || n.Workers > 64 {
		bad("%d NICs, %d peers, %d workers: must be 2 to 16, 1 to 8, 1 to 64", n.NICs, n.Peers, n.Workers)
	}
	if _, err := n.law(); err != nil {
		faults = append(faults, err)
	}
	if n.Streams < 0 || n.MaxBytes < leastBytes || n.Think < 0 || s.Length < 0 {
		bad("%d streams of up to %d bytes, a pause of %v, for %v: bytes must be at least %d and nothing negative", n.Streams, n.MaxBytes, n.Think, s.Length, leastBytes)
	}
	for i, f := range s.Faults {
		switch {
		case f.Kind >= kinds:
			bad("fault %d is of kind %d", i, f.Kind)
		case f.At < 0 || f.For < 0 || f.end() > time.Duration(s.Length):
			bad("fault %d lasts from %v to %v: must be within 0 to %v", i, f.At, f.end(), s.Length)
		case f.Peer < 0 || f.Peer >= n.Peers || f.Local < 0 || f.Local >= n.NICs || f.Remote < 0 || f.Remote >= n.NICs || f.Worker < 0 || f.Worker >= n.Workers:
			bad("fault %d, %v: there is no such place", i, f)
		case f.Kind == Rate && f.Amount < 1 || f.Kind == Delay && f.Amount < 1 || f.Kind == Loss && !(f.Amount > 0 && f.Amount <= 100):
			bad("fault %d, %v: the amount must be at least 1, and a loss above 0 to 100", i, f)
		case traits[f.Kind].at == onPair && n.dead(f.Local, f.Remote):
			bad("fault %d, %v: that pair is dead from the start", i, f)
		}
	}
	return errors.Join(faults...)
}

// dead reports whether a pair is one of a management NIC with a rail NIC: those never
// work. Host A's management NIC is its first, that of a peer its last.
func (n Setup) dead(local, remote int) bool { return (local == 0) != (remote == n.NICs-1) }

func (n Setup) law() (cc.Law, error) {
	switch n.Law {
	case "epoch":
		return cc.LawEpoch, nil
	case "round":
		return cc.LawRound, nil
	}
	return 0, fmt.Errorf("chaos: law %q; use epoch or round", n.Law)
}

// Load reads schedules from a file: one, or several one after the other.
func Load(file string) (list []Schedule, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var s Schedule
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// Save writes a schedule to a file that Load reads.
func (s Schedule) Save(file string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
