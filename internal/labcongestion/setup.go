package labcongestion

import (
	"fmt"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/verbs"
)

// Setup is a bottleneck, who sends into it, and how that is controlled.
type Setup struct {
	// Senders is how many NICs of side A write to the first NIC of side B. Each has
	// one route and one QP.
	Senders int `json:"senders"`
	// SliceBytes is the size of every WRITE; Offered is how many of them each sender
	// would like to have in flight.
	SliceBytes int       `json:"slice_bytes"`
	Offered    int       `json:"offered"`
	PathMTU    verbs.MTU `json:"path_mtu"`
	// Mbit is the rate of the link to the receiver, QueuePackets the longest queue in
	// front of it.
	Mbit         float64 `json:"mbit"`
	QueuePackets int     `json:"queue_packets"`
	// PathDelay is how long a packet takes to the receiver beside that; 0 is no time.
	PathDelay time.Duration `json:"path_delay_ns"`
	// AckTimeout is the code of the QPs' ACK timeout: 4.096 us times two to its power.
	AckTimeout uint8 `json:"ack_timeout"`
	// Seed makes the payload and the order of senders and arms.
	Seed uint64 `json:"seed"`

	Control cc.Config `json:"control"`
}

// maxOffered is what the send queue has room for; Soft-RoCE makes queues of
// powers of two less one.
const maxOffered = 63

func (s Setup) check(nics int) error {
	switch {
	case s.Senders < 1 || s.Senders > nics:
		return fmt.Errorf("labcongestion: %d senders in a guest with %d NICs a side; boot it with at least that many (guestexec -nics %[1]d)", s.Senders, nics)
	case s.SliceBytes < stampEvery || s.Offered < 1 || s.Offered > maxOffered:
		return fmt.Errorf("labcongestion: %d slices of %d bytes offered: give 1 to %d of at least %d bytes", s.Offered, s.SliceBytes, maxOffered, stampEvery)
	}
	return nil
}

// Slices returns bytes of n slices.
func (s Setup) Slices(n int) int64 { return int64(n) * int64(s.SliceBytes) }

// WithStaticWindow returns the setup with a window of n slices that never moves.
func (s Setup) WithStaticWindow(n int) Setup {
	c := &s.Control
	c.Mode = cc.Enforce
	c.MinWindowBytes, c.StartWindowBytes, c.MaxWindowBytes = s.Slices(n), s.Slices(n), s.Slices(n)
	return s
}

// Static reports whether the window cannot move.
func (s Setup) Static() bool { return s.Control.MinWindowBytes == s.Control.MaxWindowBytes }

// Traffic describes the link and the senders.
func (s Setup) Traffic() string {
	return fmt.Sprintf("%d senders, each with %d WRITEs of %d KiB to post, path MTU %s; a link of %g Mbit/s with a queue of %d packets and a delay of %s; ACK timeout %s",
		s.Senders, s.Offered, s.SliceBytes>>10, s.PathMTU, s.Mbit, s.QueuePackets, s.PathDelay, verbs.TimeoutDuration(s.AckTimeout).Round(time.Millisecond/10))
}

// Policy describes the controller.
func (s Setup) Policy() string {
	c := s.Control
	parts := []string{"mode " + c.Mode.String()}
	switch {
	case c.Mode == cc.Off:
	case s.Static():
		parts = append(parts, fmt.Sprintf("static window %d KiB", c.MinWindowBytes>>10))
	default:
		parts = append(parts,
			"law "+c.Law.String(),
			fmt.Sprintf("window %d / %d / %d KiB (least, start, most)", c.MinWindowBytes>>10, c.StartWindowBytes>>10, c.MaxWindowBytes>>10),
			fmt.Sprintf("probe window %d KiB", c.ProbeWindowBytes>>10),
			fmt.Sprintf("target drain %s", c.TargetDrain),
			fmt.Sprintf("epoch %s, %d high or %d low in a row", c.Epoch, c.HighPressureEpochs, c.LowPressureEpochs))
	}
	return strings.Join(parts, ", ")
}

func (s Setup) String() string { return s.Traffic() + "; " + s.Policy() }
