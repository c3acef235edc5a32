package livefabric

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// stress moves all of its memory over one QP at a time, slice by slice, and makes a
// new QP when one fails.
type stress struct {
	t      *testing.T
	a, b   *end
	op     verbs.Opcode
	done   []bool // by slice
	fails  int
	random *rand.Rand
}

const stressSlice = 16 * kib

// run returns once every slice has been moved.
func (s *stress) run() {
	left := len(s.done)
	next := 0
	wcs := make([]verbs.WC, 16)
	out := make(map[uint64]bool)
	for left > 0 {
		var wrs []verbs.SendWR
		for range 1 + s.random.IntN(4) {
			for next < len(s.done) && s.done[next] {
				next++
			}
			if next < len(s.done) {
				wrs = append(wrs, s.a.wr(uint64(next), s.op, s.b, next*stressSlice, stressSlice))
				next++
			}
		}
		n, err := s.a.qp.PostSend(wrs)
		if err != nil && !errors.Is(err, syscall.ENOMEM) {
			assert.NoError(s.t, err)
			return
		}
		next -= len(wrs) - n
		for _, wr := range wrs[:n] {
			out[wr.WRID] = true
		}
		k, err := s.a.cq.Poll(wcs)
		if !assert.NoError(s.t, err) {
			return
		}
		failed := false
		for _, wc := range wcs[:k] {
			if !assert.True(s.t, out[wc.WRID], "completion of slice %d, which is not outstanding", wc.WRID) {
				return
			}
			delete(out, wc.WRID)
			if wc.Status == classify.StatusSuccess {
				s.done[wc.WRID] = true
				left--
			} else {
				failed = true
			}
		}
		if failed {
			s.fails++
			s.renew()
			clear(out)
			next = 0
		}
		runtime.Gosched()
	}
	assert.Empty(s.t, out, "all slices are moved, so no completion is due")
}

// renew replaces the QPs. Slices that were outstanding are moved again.
func (s *stress) renew() {
	for _, e := range []*end{s.a, s.b} {
		if !assert.NoError(s.t, e.qp.Close()) {
			return
		}
		qp, err := e.nic.NewQP(e.cq, testQP())
		if !assert.NoError(s.t, err) {
			return
		}
		e.qp = qp.(*QP)
	}
	assert.NoError(s.t, s.a.qp.Connect(s.b.qp.Address()))
	assert.NoError(s.t, s.b.qp.Connect(s.a.qp.Address()))
}

// TestStress has one goroutine per pair of NICs posting and polling in real time,
// while another makes faults and the crowd comes and goes. It checks every byte, that none
// is lost from the fabric's books, and that Close ends it all.
func TestStress(t *testing.T) {
	n := newNet(t, testConfig())
	calm, err := n.Incast(n.hosts[1].nics[0], 5*time.Millisecond)
	require.NoError(t, err)
	const slices = 64
	var workers []*stress
	for i := range 4 {
		for j := range 2 {
			a, b := connect(t, n, i, j, slices*stressSlice, testQP())
			op := verbs.OpWrite
			if (i+j)%2 == 1 {
				op = verbs.OpRead
			}
			workers = append(workers, &stress{
				t: t, a: a, b: b, op: op, done: make([]bool, slices), random: rand.New(rand.NewPCG(uint64(i), uint64(j))),
			})
		}
	}
	var moving sync.WaitGroup
	var healed atomic.Bool
	for _, w := range workers {
		moving.Go(func() {
			for last := false; !last; {
				last = healed.Load()
				clear(w.done)
				w.run()
			}
		})
	}
	makeFaults(t, n)
	healed.Store(true)
	moving.Wait()
	fails := 0
	for _, w := range workers {
		assert.True(t, bytes.Equal(w.a.mem, w.b.mem), "payload of %v from %v to %v", w.op, w.a.nic, w.b.nic)
		fails += w.fails
	}
	assert.NotZero(t, fails, "no QP failed on the way")
	for _, h := range n.hosts {
		for _, nic := range h.nics {
			assert.NoError(t, n.KillQPs(nic))
		}
	}
	require.NoError(t, calm())
	require.Eventually(t, func() bool {
		n.lock()
		defer n.unlock()
		return n.sim.Totals().InFabric() == 0
	}, time.Minute, time.Millisecond, "bytes stayed in the fabric")
	ended(t, n)
}

// makeFaults blocks a pair for less than its QPs take to fail, then for longer, then takes
// a link down and kills QPs, twice.
func makeFaults(t *testing.T, n *Net) {
	a, b := n.hosts[0].nics[0], n.hosts[1].nics[0]
	for i := range 2 {
		for _, f := range []struct {
			fault  func() (Undo, error)
			length time.Duration
		}{
			{func() (Undo, error) { return n.Block(a, b) }, testRetryTime / 2},
			{func() (Undo, error) { return n.Block(a, b) }, 3 * testRetryTime},
			{func() (Undo, error) { return n.LinkDown(b) }, testRetryTime / 2},
		} {
			undo, err := f.fault()
			assert.NoError(t, err)
			time.Sleep(f.length)
			assert.NoError(t, undo())
			time.Sleep(testRetryTime)
		}
		assert.NoError(t, n.KillQPs(n.hosts[0].nics[i]))
	}
}

func TestManyPostersOnOneQP(t *testing.T) {
	n := newNet(t, testConfig())
	cfg := testQP()
	cfg.SendDepth = 1000
	a, b := connect(t, n, 0, 0, 64*kib, cfg)
	const posters, each = 4, 200
	var wg sync.WaitGroup
	for p := range uint64(posters) {
		wg.Go(func() {
			for k := range uint64(each) {
				_, err := a.qp.PostSend([]verbs.SendWR{a.wr(p*each+k, verbs.OpWrite, b, 0, 64)})
				assert.NoError(t, err)
			}
		})
	}
	seen := make(map[uint64]int)
	last := make(map[uint64]uint64)
	require.Eventually(t, func() bool {
		for _, r := range a.results() {
			seen[r.ID]++
			p := r.ID / each
			if before, ok := last[p]; ok {
				assert.Less(t, before, r.ID, "completions of one poster come in its order")
			}
			last[p] = r.ID
		}
		return len(seen) == posters*each
	}, 20*time.Second, time.Millisecond)
	wg.Wait()
	for id, times := range seen {
		assert.Equal(t, 1, times, "completions of %d", id)
	}
}
