package fabric

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pair is a QP with its own CQs at both ends.
type pair struct {
	q, peer          *QP
	done, recv, back *CQ // of q's sends, the peer's receives, the peer's sends
}

func mustNew(t testing.TB, cfg Config) *Sim {
	t.Helper()
	s, err := New(cfg)
	require.NoError(t, err)
	return s
}

func connect(t testing.TB, s *Sim, a, b *NIC, cfg QPConfig) pair {
	t.Helper()
	p := pair{done: s.NewCQ(), recv: s.NewCQ(), back: s.NewCQ()}
	var err error
	p.q, p.peer, err = s.Connect(Endpoint{NIC: a, Send: p.done}, Endpoint{NIC: b, Send: p.back, Recv: p.recv}, cfg)
	require.NoError(t, err)
	return p
}

// poll takes all completions.
func poll(c *CQ) []Completion {
	out := make([]Completion, len(c.queue)-c.head)
	return out[:c.Poll(out)]
}

// when notes the instant at which a CQ has got its n-th completion.
func when(s *Sim, c *CQ, n int) *Time {
	at := new(Time)
	c.Notify(func() {
		if len(c.queue)-c.head >= n && *at == 0 {
			*at = s.now
		}
	})
	return at
}

func us(t Time) float64 { return float64(t) / float64(Microsecond) }

// inQueues counts what is in the fabric packet by packet.
func (s *Sim) inQueues() int64 {
	var sum int64
	count := func(q *fifo) {
		for k := q.head; k != nil; k = k.next {
			if k.kind < packetPause {
				sum += int64(k.wire)
			}
		}
	}
	for _, p := range s.ports {
		count(&p.wire)
		count(&p.data)
		if p.sw != nil {
			count(&p.control)
		}
	}
	for _, n := range s.nics {
		count(&n.buffer)
	}
	return sum
}

// audit checks from time to time that no byte is lost from the books.
func audit(t testing.TB, s *Sim, every, until time.Duration) {
	s.Every(every, func() bool {
		require.Equal(t, s.inQueues(), s.Totals().InFabric(), "bytes in the fabric at %v", s.Now())
		for _, w := range s.switches {
			var held, over int64
			for _, p := range w.ports {
				held += p.held
				over += p.over
				require.True(t, p.held >= 0 && p.over >= 0 && p.over <= p.headroom, "port %s holds %d and %d", p.name, p.held, p.over)
			}
			var queued int64
			for _, p := range w.Ports() {
				queued += p.Queue()
			}
			require.Equal(t, queued, w.Used(), "data in %s", w.Name())
			if !w.lossy {
				require.Equal(t, w.used, held, "shared buffer of %s", w.name)
			}
			require.True(t, w.used >= 0 && w.used <= w.shared, "switch %s uses %d of %d", w.name, w.used, w.shared)
			require.Zero(t, over*btoi(w.lossy))
		}
		return s.Now()+every <= until
	})
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func dropped(s *Sim) (sum int64) {
	for _, p := range s.ports {
		sum += p.stats.Dropped
	}
	return sum
}

// jain returns Jain's fairness index.
func jain(x ...float64) float64 {
	var sum, squares float64
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return sum * sum / (float64(len(x)) * squares)
}
