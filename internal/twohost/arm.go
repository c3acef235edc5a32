package twohost

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// Workers is how many goroutines post and poll in the arms that are compared here.
const Workers = 6

// Arm is one way to share, or not to share, what is learnt of the pairs.
type Arm struct {
	Name, What string
	// Controllers is 1, or [Workers]: each worker is then an engine of its own.
	Controllers int
	// Shared: the controllers have one pause table, and not a private one each.
	Shared bool
	// Plain: a suspect route is not limited, and is suspected after an error only; and
	// nobody probes.
	Plain bool
	// Perfect: only the pairs that work are used.
	Perfect bool
}

// The arms.
var (
	Alone   = Arm{Name: "alone", What: "six controllers, each with a private table; no limit while suspect", Controllers: Workers, Plain: true}
	Pooled  = Arm{Name: "pooled", What: "six controllers with one table: pooled count and pause only", Controllers: Workers, Shared: true, Plain: true}
	Ours    = Arm{Name: "ours", What: "one controller for six workers, defaults", Controllers: 1}
	OursSix = Arm{Name: "ours-six", What: "six controllers with one table, defaults", Controllers: Workers, Shared: true}
	Perfect = Arm{Name: "file", What: "only the pairs that work", Controllers: 1, Perfect: true}
)

// Arms lists all arms, in the order in which they run.
func Arms() []Arm { return []Arm{Alone, Pooled, Ours, OursSix, Perfect} }

// Numbers are the numbers that all arms have in common.
type Numbers struct {
	// SliceBytes is the length of a slice.
	SliceBytes int
	// WindowSlices is how many slices the window of a pair holds, of all controllers
	// together, if Windows does not say something else.
	WindowSlices int
	// Windows moves the windows; without numbers they stay where they begin.
	Windows Windows
	// Mode is that of all controllers.
	Mode cc.Mode
	// Workers is how many goroutines post and poll; a multiple of the controllers.
	Workers int
	// AckTimeout and Retry are those of every QP but the probers', which have the others.
	AckTimeout, Retry           uint8
	ProbeAckTimeout, ProbeRetry uint8
	// ProbeInterval is the time between two probes of a paused pair.
	ProbeInterval time.Duration
	// Cooldown is the base length of a pause.
	Cooldown time.Duration
	// Seed is that of the jitter of pauses and probes.
	Seed uint64
}

// Windows are a law and its numbers.
type Windows struct {
	Law                            cc.Law
	MinBytes, StartBytes, MaxBytes int64
	Target                         time.Duration
}

func (w Windows) String() string {
	if w == (Windows{}) {
		return "constant windows"
	}
	return fmt.Sprintf("law %s, window %d / %d / %d KiB (least, start, most), target drain %s", w.Law, w.MinBytes>>10, w.StartBytes>>10, w.MaxBytes>>10, w.Target)
}

// apply sets a configuration of the controller.
func (w Windows) apply(c *cc.Config) {
	c.Law, c.TargetDrain = w.Law, w.Target
	c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = w.MinBytes, w.MinBytes, w.MinBytes
	c.StartWindowBytes, c.MaxWindowBytes = w.StartBytes, w.MaxBytes
}

// DefaultNumbers suits the guest: a work request on a dead pair fails after four
// times 268 ms, a probe after two times 134 ms, which is less than a fifth of the probe
// interval. A retry count of 7 would never end there.
func DefaultNumbers() Numbers {
	return Numbers{
		SliceBytes: 8 << 10, WindowSlices: 4, Mode: cc.Enforce, Workers: Workers, AckTimeout: 16, Retry: 3,
		ProbeAckTimeout: 15, ProbeRetry: 1,
		ProbeInterval: 1500 * time.Millisecond, Cooldown: 45 * time.Second, // 1.5 times the defaults
	}
}

// Timeout is how long a work request on a dead pair takes to fail, as the codes say.
func (n Numbers) Timeout() time.Duration { return timeout(n.AckTimeout, n.Retry) }

// ProbeTimeout is the same of a probe.
func (n Numbers) ProbeTimeout() time.Duration { return timeout(n.ProbeAckTimeout, n.ProbeRetry) }

func timeout(code, retry uint8) time.Duration {
	return time.Duration(1+int64(retry)) * (4096 * time.Nanosecond << code)
}

func (n Numbers) controller(a Arm) cc.Config {
	c := cc.DefaultConfig()
	c.Mode = n.Mode
	// The default windows are 1 to 1024 slices of 64 KiB, and begin with 4. Here they
	// stay where they begin, and each controller has at least one slice, so that a load
	// of some transfers needs every pair; and what is in flight on these slow NICs
	// drains well within one ACK timeout.
	slice := int64(n.SliceBytes)
	c.MinWindowBytes, c.ProbeWindowBytes, c.SuspectWindowBytes = slice, slice, slice
	c.StartWindowBytes = max(1, int64(n.WindowSlices/a.Controllers)) * slice
	c.MaxWindowBytes = c.StartWindowBytes
	c.TargetDrain = 50 * time.Millisecond
	if n.Windows != (Windows{}) {
		n.Windows.apply(&c)
	}
	c.ProbeInterval, c.Cooldown = n.ProbeInterval, n.Cooldown
	if a.Plain {
		c.SuspectWindowBytes, c.SuspectAfter = 0, 0
	}
	c.Prober = !a.Plain
	return c
}

// jitter returns the factors of one controller, 0.8 to 1.2.
func (n Numbers) jitter(controller int) func() float64 {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(n.Seed, uint64(controller)))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return 0.8 + 0.4*r.Float64()
	}
}

func (n Numbers) engine(a Arm) transfer.Config {
	c := transfer.DefaultConfig()
	c.Workers = n.Workers / a.Controllers
	c.SliceBytes, c.AckTimeout, c.Retry = n.SliceBytes, n.AckTimeout, n.Retry
	c.ProbeAckTimeout, c.ProbeRetry = n.ProbeAckTimeout, n.ProbeRetry
	c.PostBatch = 4 // also the run of slices that one worker is dealt
	c.Deadline = 20 * n.Timeout()
	if a.Plain {
		c.ProbePause = forever
	}
	return c
}
