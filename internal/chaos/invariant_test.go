package chaos

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/verbs"
)

// broken is a fabric that does not do what it should, once.
type broken struct {
	post     func(wr *verbs.SendWR, mem []byte) // mem is its region's
	poll     func(wcs []verbs.WC, n int) int
	register func() error
	armed    atomic.Bool // nothing is broken before the faults begin
	memory   sync.Map    // by lkey
}

func (b *broken) once() bool { return b.armed.CompareAndSwap(true, false) }

type brokenHost struct {
	fabric.Host
	broken *broken
}

type brokenNIC struct {
	fabric.NIC
	broken *broken
}

type brokenCQ struct {
	fabric.CQ
	broken *broken
}

type brokenQP struct {
	fabric.QP
	broken *broken
}

func (h *brokenHost) NICs() (list []fabric.NIC) {
	for _, nic := range h.Host.NICs() {
		list = append(list, &brokenNIC{nic, h.broken})
	}
	return list
}

func (n *brokenNIC) Register(mem []byte) (fabric.Region, error) {
	if n.broken.register != nil && n.broken.once() {
		return nil, n.broken.register()
	}
	r, err := n.NIC.Register(mem)
	if err == nil {
		n.broken.memory.Store(r.LKey(), mem)
	}
	return r, err
}

func (n *brokenNIC) NewCQ(depth int) (fabric.CQ, error) {
	c, err := n.NIC.NewCQ(depth)
	return &brokenCQ{c, n.broken}, err
}

func (n *brokenNIC) NewQP(c fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	q, err := n.NIC.NewQP(c.(*brokenCQ).CQ, cfg)
	return &brokenQP{q, n.broken}, err
}

func (c *brokenCQ) Poll(wcs []verbs.WC) (int, error) {
	n, err := c.CQ.Poll(wcs)
	if c.broken.poll != nil && n > 0 && n < len(wcs) && c.broken.once() {
		n = c.broken.poll(wcs, n)
	}
	return n, err
}

func (q *brokenQP) PostSend(wrs []verbs.SendWR) (int, error) {
	if q.broken.post != nil && wrs[0].Op == verbs.OpWrite && wrs[0].SGE.Length > 1000 && q.broken.once() {
		mem, _ := q.broken.memory.Load(wrs[0].SGE.LKey)
		q.broken.post(&wrs[0], mem.([]byte))
	}
	return q.QP.PostSend(wrs)
}

// pairOf is a route of the site by its numbers.
func (s *Site) pairOf(peer, local, remote int) rail.Pair {
	for _, r := range s.ctl.Snapshot().Routes {
		if s.number(r.Pair) == (route{peer, local, remote}) {
			return r.Pair
		}
	}
	panic("there is no such route")
}

// Every invariant is seen to be broken when something breaks it.
func TestInvariantsCanFail(t *testing.T) {
	var keep []byte
	// released returns a channel that is closed at the end.
	released := func(t *testing.T) <-chan struct{} {
		c := make(chan struct{})
		t.Cleanup(func() { close(c) })
		return c
	}
	block := func(back bool) func(*testing.T, *Site) {
		return func(t *testing.T, s *Site) {
			_, err := s.bed.Begin(Fault{Kind: Block, Local: 1, Remote: 1, Back: back})
			require.NoError(t, err)
		}
	}
	for _, tc := range []struct {
		name   string
		want   Invariant
		text   string
		fabric *broken
		begun  func(*testing.T, *Site)
		faults []Fault
	}{
		{name: "a WRITE that moves less than it says", want: Payload, text: "differs at bytes",
			fabric: &broken{post: func(wr *verbs.SendWR, _ []byte) { wr.SGE.Length /= 2 }}},
		{name: "memory that changes before it is sent", want: Payload, text: "came back different",
			fabric: &broken{post: func(wr *verbs.SendWR, mem []byte) { mem[10] ^= 1 }}},
		{name: "a failure that nobody planned", want: Reason, text: "no reason that is known",
			fabric: &broken{register: func() error { return errors.New("no memory for page tables") }}},
		{name: "a completion that comes twice", want: Once, text: "is not out",
			fabric: &broken{poll: func(wcs []verbs.WC, n int) int { wcs[n] = wcs[0]; return n + 1 }}},
		{name: "bytes that the controller gave back too early", want: Once, text: "on the controller's books",
			begun: func(_ *testing.T, s *Site) { s.watch.devices[1].posted.Add(1 << 40) }},
		{name: "a permit that is never settled", want: Flight, text: "a1: 4096",
			begun: func(t *testing.T, s *Site) {
				r, err := s.ctl.Route(s.pairOf(0, 1, 1))
				require.NoError(t, err)
				require.True(t, r.TryAcquire(new(cc.Permit), r.Snapshot().Generation, 4096, nil).Admitted())
			}},
		{name: "a pair that is blocked behind the schedule's back", want: Verdict, text: "no fault that blames reaches it", begun: block(false)},
		{name: "a pair that is blocked beside the one of the schedule", want: Verdict, text: "a1:1->peer-0", begun: block(false),
			faults: []Fault{{Kind: Block, Local: 1, Remote: 0, For: Duration(time.Second)}, {Kind: Block, Peer: 1, Local: 1, Remote: 1, For: Duration(time.Second)}}},
		{name: "a pair that is quarantined for a fault that is not the path's", want: Verdict, text: "only [stale-key]",
			begun:  block(false),
			faults: []Fault{{Kind: StaleKey, Local: 1, Remote: 1, For: Duration(time.Second)}}},
		{name: "a port that takes another device along", want: Verdict, text: "a2:1->",
			begun: func(t *testing.T, s *Site) {
				_, _, err := s.ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "a2", Port: 1}}, s.ctl.Now())
				require.NoError(t, err)
			},
			faults: []Fault{{Kind: LinkDown, Local: 1, For: Duration(time.Second)}}},
		{name: "a pair that does not come back", want: Stuck, text: "a1:1->peer-0", begun: block(true),
			faults: []Fault{{Kind: Block, Local: 1, Remote: 1, For: Duration(500 * time.Millisecond)}}},
		{name: "a pair without QPs for the workers", want: Stuck, text: "with 0 of 3 QPs",
			begun: func(_ *testing.T, s *Site) {
				for q := range s.watch.qps {
					if r := q.route.Load(); *r == (route{0, 1, 1}) {
						q.route.Store(&route{0, 0, 0})
					}
				}
			},
			faults: []Fault{{Kind: GIDChange, Far: true, Remote: 1, For: Duration(100 * time.Millisecond)}}},
		{name: "a goroutine too many", want: Flat, text: "TestInvariantsCanFail",
			begun: func(t *testing.T, _ *Site) {
				c := released(t)
				go func() { <-c }()
			}},
		{name: "threads that stay", want: Flat, text: "threads",
			begun: func(t *testing.T, _ *Site) {
				c := released(t)
				for range 3 * moreThreads {
					go func() { runtime.LockOSThread(); <-c }()
				}
			}},
		{name: "memory that stays", want: Flat, text: "bytes of heap",
			begun: func(*testing.T, *Site) { keep = make([]byte, 64<<20) }},
		{name: "a descriptor that stays open", want: Flat, text: "descriptors",
			begun: func(t *testing.T, _ *Site) {
				f, err := os.Open(os.DevNull)
				require.NoError(t, err)
				t.Cleanup(func() { f.Close() })
			}},
		{name: "a QP that stays", want: Flat, text: "QPs",
			begun: func(t *testing.T, s *Site) { s.watch.objects.qps.Add(1000) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			options := func(t *testing.T) Options {
				o := Options{begun: func(s *Site) {
					if tc.begun != nil {
						tc.begun(t, s)
					}
					if tc.fabric != nil {
						tc.fabric.armed.Store(true)
					}
				}}
				if tc.fabric != nil {
					o.near = func(h fabric.Host) fabric.Host { return &brokenHost{h, tc.fabric} }
				}
				return o
			}
			faults := tc.faults
			if faults == nil {
				faults = []Fault{{Kind: Rebuild, Local: 2, At: Duration(900 * time.Millisecond)}} // lasts long enough
			}
			r := lenient(t, plain(faults...), options)
			for _, b := range r.Broken {
				if b.Invariant == tc.want && strings.Contains(b.Text, tc.text) {
					return
				}
			}
			assert.Fail(t, "it was not noticed", "%s with %q; there was: %v", tc.want, tc.text, r.Broken)
		})
	}
	runtime.KeepAlive(keep)
}

// lenient simulates a schedule whose site may not close cleanly.
func lenient(t *testing.T, plan Schedule, o func(*testing.T) Options) (r Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { r, _ = simulate(t.Context(), plan, o(t)) })
	return r
}
