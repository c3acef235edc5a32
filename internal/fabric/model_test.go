package fabric

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/require"
)

var modelSeeds = flag.Int("model.seeds", 0, "seeds of the model test; 0 is 40, or 15 with -short")

// flow is the obvious model of one direction of a connection: what was posted must be
// delivered once and in order, and complete in order.
type flow struct {
	t        *testing.T
	name     string
	q        *QP
	done     *CQ
	posted   []WR
	arrived  int // requests that the peer has carried out
	complete int
	failed   bool
}

func (f *flow) deliver(op Op, bytes int64) {
	require.Less(f.t, f.arrived, len(f.posted), "%s: delivered what was not posted", f.name)
	w := f.posted[f.arrived]
	require.Equal(f.t, WR{Op: w.Op, Bytes: w.Bytes}, WR{Op: op, Bytes: bytes}, "%s: delivery %d", f.name, f.arrived)
	f.arrived++
}

func (f *flow) check() {
	if q := f.q; !q.Failed() {
		reads := 0
		for i := q.head; i < q.next; i++ {
			reads += int(btoi(q.at(i).wr.Op == Read))
		}
		require.Equal(f.t, reads, q.reads, "%s: READs sent in whole", f.name)
		require.LessOrEqual(f.t, reads, q.cfg.MaxReads, f.name)
		require.True(f.t, q.una <= q.nxt && q.nxt <= q.sent && q.sent <= q.end, "%s: sequence numbers", f.name)
	}
	for _, c := range poll(f.done) {
		require.Less(f.t, f.complete, len(f.posted), "%s: too many completions", f.name)
		for f.posted[f.complete].Unsignaled && f.posted[f.complete].ID != c.WRID {
			require.False(f.t, f.failed, "%s: a flush skipped a work request", f.name)
			require.Less(f.t, f.complete, f.arrived, "%s: skipped before it was delivered", f.name)
			f.complete++
		}
		require.Equal(f.t, f.posted[f.complete].ID, c.WRID, "%s: order of completions", f.name)
		require.Equal(f.t, f.q.Num, c.QPNum)
		switch {
		case f.failed:
			require.Equal(f.t, classify.StatusWRFlushErr, c.Status, "%s: after the first failure", f.name)
		case c.Status == classify.StatusSuccess:
			require.Less(f.t, f.complete, f.arrived, "%s: completed before it was delivered", f.name)
		default:
			require.True(f.t, f.q.Failed())
			require.Contains(f.t, []classify.Status{classify.StatusRetryExcErr, classify.StatusRNRRetryExcErr, classify.StatusWRFlushErr}, c.Status)
			f.failed = true
		}
		f.complete++
	}
}

// TestModel has random work requests of all kinds in both directions through random
// loss, black holes, flaps and slow hosts.
func TestModel(t *testing.T) {
	seeds := *modelSeeds
	if seeds == 0 {
		seeds = 40
		if testing.Short() {
			seeds = 15
		}
	}
	var lossless, died, resent int64
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			cfg := Config{
				Seed: seed, MTU: []int{256, 1024, 4096}[r.IntN(3)],
				Topology: []Topology{Star(4), LeafSpine(2, 2, 2), FatTree(4)}[r.IntN(3)],
				Switch:   SwitchConfig{Lossy: r.IntN(2) == 0, Buffer: 1 << 20},
			}
			if r.IntN(2) == 0 {
				cfg.DCQCN, cfg.Switch.ECN = PaperDCQCN(), PaperECN()
			}
			if r.IntN(3) == 0 {
				cfg.Receiver = ReceiveConfig{Drain: 30e9, Buffer: 40 << 10}
			}
			s := mustNew(t, cfg)
			faults := seed % 4 // none, loss, black holes and flaps as well, long ones
			flows := modelFlows(t, s, r)
			const end = 30 * time.Millisecond
			audit(t, s, 50*time.Microsecond, end)
			if faults > 0 {
				modelFaults(s, r, end, faults)
			}
			s.Run(end)
			for _, l := range s.links {
				l.Up(Notice{})
				for _, p := range []*Port{l.A, l.B} {
					p.Blackhole(false)
					p.Lose(0)
				}
			}
			s.Drain()
			for _, f := range flows {
				f.check()
				resent += f.q.Stats().Resent
				if f.failed {
					died++
					continue
				}
				require.Zero(t, f.q.Outstanding(), "%s: stuck at %d of %d", f.name, f.complete, len(f.posted))
				require.Equal(t, len(f.posted), f.arrived, f.name)
			}
			for i := 0; i < len(flows); i += 2 { // both ends of a connection
				a, b := flows[i], flows[i+1]
				if !a.q.Failed() && !b.q.Failed() {
					require.Equal(t, a.bytes(true)+b.bytes(false), a.q.Stats().Received, a.name)
					require.Equal(t, b.bytes(true)+a.bytes(false), b.q.Stats().Received, b.name)
				}
			}
			require.Zero(t, s.Totals().InFabric())
			if faults == 0 && !cfg.Switch.Lossy {
				require.Zero(t, s.Totals().Dropped)
				lossless++
			}
		})
	}
	t.Logf("%d seeds, %d without loss; %d flows died, %d sequence numbers resent", seeds, lossless, died, resent)
	require.NotZero(t, died)
	require.NotZero(t, resent)
}

// bytes sums what READs bring to the QP itself, or what else it sends to the peer.
func (f *flow) bytes(reads bool) (sum int64) {
	for _, w := range f.posted {
		if (w.Op == Read) == reads {
			sum += w.Bytes
		}
	}
	return sum
}

// modelFlows connects random pairs and has both ends post for 20 ms.
func modelFlows(t *testing.T, s *Sim, r *rand.Rand) (flows []*flow) {
	for c := range 3 {
		cfg := DefaultQP()
		cfg.SendDepth, cfg.RecvDepth = 1+r.IntN(20), 1+r.IntN(10)
		cfg.MaxReads, cfg.AckEvery = 1+r.IntN(4), 1+r.IntN(20)
		cfg.Timeout, cfg.Retry = 5+r.IntN(4), 2+r.IntN(6)
		cfg.RNRRetry, cfg.RNRDelay = 5+r.IntN(3), time.Duration(10+r.IntN(200))*time.Microsecond
		i := r.IntN(4)
		p := connect(t, s, s.NIC(i, 0), s.NIC((i+1+r.IntN(3))%4, 0), cfg)
		a := &flow{t: t, name: fmt.Sprint("flow ", c), q: p.q, done: p.done}
		b := &flow{t: t, name: fmt.Sprint("flow back ", c), q: p.peer, done: p.back}
		p.peer.delivered, p.q.delivered = a.deliver, b.deliver
		for _, f := range []*flow{a, b} {
			f.run(s, r, cfg.SendDepth)
		}
		flows = append(flows, a, b)
	}
	return flows
}

// run posts random work requests and the receives that the peer's need, now and then.
func (f *flow) run(s *Sim, r *rand.Rand, depth int) {
	s.Every(time.Duration(5+r.IntN(40))*time.Microsecond, func() bool {
		f.check()
		for range r.IntN(6) {
			w := WR{ID: uint64(len(f.posted)), Op: Op(r.IntN(3)), Bytes: r.Int64N(1 << (2 + r.IntN(16))), Unsignaled: r.IntN(4) == 0}
			full := !f.q.Failed() && f.q.Outstanding() == depth
			err := f.q.Post(w)
			if full {
				require.ErrorIs(f.t, err, ErrQueueFull)
				break
			}
			require.NoError(f.t, err)
			f.posted = append(f.posted, w)
		}
		for f.q.PostRecv(0) == nil && r.IntN(3) > 0 && !f.q.Failed() {
		}
		if s.Now() < 20*time.Millisecond {
			return true
		}
		s.Every(20*time.Microsecond, func() bool { // for the SENDs that are still to come
			for !f.q.Failed() && f.q.PostRecv(0) == nil {
			}
			return !f.q.peer.Failed() && f.q.peer.Outstanding() > 0
		})
		return false
	})
}

// modelFaults breaks links at random times until the end.
func modelFaults(s *Sim, r *rand.Rand, end time.Duration, faults uint64) {
	for _, l := range s.links {
		if r.IntN(3) == 0 {
			l.A.Lose(float64(r.IntN(20)) / 1000)
			l.B.Lose(float64(r.IntN(20)) / 1000)
		}
	}
	if faults == 1 {
		return
	}
	longest := 100
	if faults == 3 {
		longest = 1500
	}
	s.Every(200*time.Microsecond, func() bool {
		l := s.links[r.IntN(len(s.links))]
		p := []*Port{l.A, l.B}[r.IntN(2)]
		length := time.Duration(1+r.IntN(longest)) * time.Microsecond
		switch r.IntN(4) {
		case 0:
			l.Down(Notice{Lost: r.IntN(2) == 0, Late: time.Duration(r.IntN(1000)) * time.Microsecond})
			s.After(length, func() { l.Up(Notice{}) })
		case 1:
			p.Blackhole(true)
			s.After(length, func() { p.Blackhole(false) })
		case 2:
			l.Shape(1e9 * int64(10+r.IntN(100)))
		case 3:
			p.Lose(float64(r.IntN(100)) / 1000)
		}
		return s.Now() < end
	})
}
