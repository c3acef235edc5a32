package livefabric

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

const (
	testRate = 1_000_000_000 // bit/s
	kib      = 1 << 10
)

// testConfig has two hosts with four NICs each.
func testConfig() Config {
	nics := []string{"nic0", "nic1", "nic2", "nic3"}
	return Config{Seed: 1, Hosts: []HostConfig{{"host-a", nics}, {"host-b", nics}}, Rate: testRate, Crowd: 2}
}

// testQP fails after (3+1) x 4.096 us x 2^10 = 17 ms.
func testQP() fabric.QPConfig {
	return fabric.QPConfig{SendDepth: 16, RecvDepth: 16, Timeout: 10, Retry: 3, RNRRetry: 2}
}

const testRetryTime = 4 * 4096 * time.Nanosecond << 10

// inBubble runs a test in fake time, with a fabric of testConfig.
func inBubble(t *testing.T, f func(t *testing.T, n *Net)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, testConfig())
		f(t, n)
	})
}

func newNet(t testing.TB, cfg Config) *Net {
	t.Helper()
	n, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return n
}

func nicOf(t testing.TB, n *Net, host string, i int) *NIC {
	t.Helper()
	h, err := n.Host(host)
	require.NoError(t, err)
	return h.nics[i]
}

// end is one side of a connection, with memory of its own.
type end struct {
	t      testing.TB
	nic    *NIC
	mem    []byte
	region fabric.Region
	cq     fabric.CQ
	qp     *QP
}

// connect makes a connection between NIC i of host-a and NIC j of host-b, with
// bytes of random memory on both sides.
func connect(t testing.TB, n *Net, i, j, bytes int, cfg fabric.QPConfig) (a, b *end) {
	t.Helper()
	a = newEnd(t, nicOf(t, n, "host-a", i), bytes, cfg)
	b = newEnd(t, nicOf(t, n, "host-b", j), bytes, cfg)
	require.NoError(t, a.qp.Connect(b.qp.Address()))
	require.NoError(t, b.qp.Connect(a.qp.Address()))
	return a, b
}

func newEnd(t testing.TB, nic *NIC, bytes int, cfg fabric.QPConfig) *end {
	t.Helper()
	e := &end{t: t, nic: nic}
	var err error
	e.mem, err = nic.host.Alloc(bytes)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(uint64(bytes), nextID()))
	for k := range e.mem {
		e.mem[k] = byte(random.Uint32())
	}
	e.region, err = nic.Register(e.mem)
	require.NoError(t, err)
	e.cq, err = nic.NewCQ(2 * (cfg.SendDepth + cfg.RecvDepth))
	require.NoError(t, err)
	qp, err := nic.NewQP(e.cq, cfg)
	require.NoError(t, err)
	e.qp = qp.(*QP)
	return e
}

// wr returns a signaled work request for bytes offset to offset+n of both sides.
func (e *end) wr(id uint64, op verbs.Opcode, peer *end, offset, n int) verbs.SendWR {
	return verbs.SendWR{
		WRID:       id,
		Op:         op,
		Flags:      verbs.SendSignaled,
		RKey:       peer.region.RKey(),
		RemoteAddr: peer.region.Addr() + uint64(offset),
		SGE:        e.sge(offset, n),
	}
}

func (e *end) sge(offset, n int) verbs.SGE {
	return verbs.SGE{Addr: e.region.Addr() + uint64(offset), Length: uint32(n), LKey: e.region.LKey()}
}

// post posts work requests that must all be taken.
func (e *end) post(wrs ...verbs.SendWR) {
	e.t.Helper()
	n, err := e.qp.PostSend(wrs)
	require.NoError(e.t, err)
	require.Equal(e.t, len(wrs), n)
}

// poll returns what is in the CQ.
func (e *end) poll() []verbs.WC {
	e.t.Helper()
	wcs := make([]verbs.WC, 256)
	n, err := e.cq.Poll(wcs)
	require.NoError(e.t, err)
	return wcs[:n]
}

// result is what may be read of any completion.
type result struct {
	ID     uint64
	Status classify.Status
}

// results returns the completions in the CQ, in short.
func (e *end) results() []result {
	e.t.Helper()
	var rs []result
	for _, wc := range e.poll() {
		require.Equal(e.t, e.qp.sim.Num, wc.QPNum, "QP number of the completion of %d", wc.WRID)
		rs = append(rs, result{wc.WRID, wc.Status})
	}
	return rs
}

// pass lets fake time pass, and everything that is due happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// nextEvent returns the next event of a NIC, which must be there.
func nextEvent(t *testing.T, nic *NIC) classify.Event {
	t.Helper()
	require.NotEmpty(t, nic.events, "%v should have reported an event", nic)
	e, err := nic.NextEvent(t.Context())
	require.NoError(t, err)
	return e
}

const (
	success = classify.StatusSuccess
	flushed = classify.StatusWRFlushErr
	timeout = classify.StatusRetryExcErr
)
