package fabric

import (
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/require"
)

func statuses(cs []Completion) (out []classify.Status) {
	for _, c := range cs {
		out = append(out, c.Status)
	}
	return out
}

// A path that is dead kills the QP timeout x (retry + 1) after the first packet, to the
// picosecond, and the rest is flushed in order.
func TestRetryDeath(t *testing.T) {
	for timeout := 1; timeout <= 31; timeout += 3 {
		for retry := 0; retry <= 7; retry++ {
			s := mustNew(t, Config{Topology: Star(2)})
			cfg := DefaultQP()
			cfg.Timeout, cfg.Retry = timeout, retry
			p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), cfg)
			at := when(s, p.done, 1)
			s.NIC(0, 0).Link().A.Blackhole(true)
			for id := range uint64(3) {
				require.NoError(t, p.q.Post(WR{ID: id, Op: Op(id % 2), Bytes: 1, Unsignaled: id == 1}))
			}
			s.Drain()
			require.Equal(t, Time(retry+1)*Time(4_096_000<<timeout), *at, "timeout %d, retry %d", timeout, retry)
			require.Equal(t, []Completion{
				{WRID: 0, Status: classify.StatusRetryExcErr, QPNum: p.q.Num, VendorErr: 0x530c},
				{WRID: 1, Status: classify.StatusWRFlushErr, QPNum: p.q.Num, VendorErr: 0x5305},
				{WRID: 2, Status: classify.StatusWRFlushErr, QPNum: p.q.Num, VendorErr: 0x5305},
			}, poll(p.done))
			require.Equal(t, int64(retry+1), p.q.Stats().Timeouts)
			require.True(t, p.q.Failed())
			require.False(t, p.peer.Failed(), "the peer is not told")

			require.NoError(t, p.q.Post(WR{ID: 9}))
			require.Equal(t, []classify.Status{classify.StatusWRFlushErr}, statuses(poll(p.done)), "posted afterwards")
		}
	}
}

// One timeout after the last progress the oldest packet is sent again, and nothing
// before that.
func TestTimeoutResends(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	at := when(s, p.done, 1)
	out := s.NIC(0, 0).Link().A
	out.Blackhole(true)
	require.NoError(t, p.q.Post(WR{Bytes: 4096}))
	sent := out.Stats().Sent
	timeout := DefaultQP().ACKTimeout()
	require.Equal(t, 67_108_864*Microsecond/1000, timeout)
	s.At(time.Microsecond, func() { out.Blackhole(false) })
	s.Run((timeout - Nanosecond).Duration())
	require.Equal(t, sent, out.Stats().Sent)
	s.Drain()
	require.Equal(t, 2*sent, out.Stats().Sent)
	alone := 2*transmission(4096+dataOverhead, 100e9) + 2*transmission(ackWire, 100e9) + 4*Microsecond
	require.Equal(t, timeout+alone, *at)
}

// Without a timeout a QP waits for ever.
func TestNoTimeout(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	cfg := DefaultQP()
	cfg.Timeout = 0
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), cfg)
	s.NIC(0, 0).Link().A.Blackhole(true)
	require.NoError(t, p.q.Post(WR{Bytes: 1}))
	s.Drain()
	require.Empty(t, poll(p.done))
	require.Equal(t, 1, p.q.Outstanding())
	p.q.Fail(classify.StatusWRFlushErr)
	require.Equal(t, []classify.Status{classify.StatusWRFlushErr}, statuses(poll(p.done)))
}

// A lost packet costs one NAK and a round trip, not a timeout.
func TestGoBackN(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	out := s.NIC(0, 0).Link().A
	at := when(s, p.done, 2)
	for range 2 {
		require.NoError(t, p.q.Post(WR{Bytes: 100 * 4096}))
	}
	packet := transmission(4096+dataOverhead, 100e9)
	s.At((packet * 21 / 2).Duration(), func() { out.Blackhole(true) }) // the 12th packet
	s.At((packet * 23 / 2).Duration(), func() { out.Blackhole(false) })
	s.Drain()
	require.Equal(t, []classify.Status{0, 0}, statuses(poll(p.done)))
	st := p.q.Stats()
	require.Zero(t, st.Timeouts)
	require.InDelta(t, float64(5*Microsecond)/float64(packet), float64(st.Resent), 3, "a round trip of packets was sent again")
	require.Equal(t, int64(200*4096), p.peer.Stats().Received)
	require.Less(t, *at, 235*packet, "200 packets, what was sent again, and a round trip")
}

// Losses that are far apart cost a round trip each, in both directions, and use up no
// retries, since there is progress in between.
func TestLossesFarApart(t *testing.T) {
	for _, op := range []Op{Write, Read} {
		s := mustNew(t, Config{Topology: Star(2)})
		cfg := DefaultQP()
		cfg.Retry = 1
		p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), cfg)
		require.NoError(t, p.q.Post(WR{Op: op, Bytes: 1000 * 4096}))
		require.NoError(t, p.q.Post(WR{Op: op, Bytes: 4096}))
		for i := range 6 {
			for _, n := range []int{0, 1} {
				data := s.NIC(n, 0).Link().A
				s.At(time.Duration(20+40*i)*time.Microsecond, func() { data.Blackhole(true) })
				s.At(time.Duration(20+40*i)*time.Microsecond+334, func() { data.Blackhole(false) })
			}
		}
		s.Drain()
		require.Equal(t, []classify.Status{0, 0}, statuses(poll(p.done)), "op %d", op)
		st := p.q.Stats()
		require.Zero(t, st.Timeouts)
		require.NotZero(t, st.Resent)
		if op == Write {
			require.InDelta(t, 6*16, float64(st.Resent), 20, "each time a round trip of packets")
		}
		require.Equal(t, int64(1001*4096), p.q.Stats().Received+p.peer.Stats().Received)
		sent := s.NIC(0, 0).Link().A.Stats().Sent + s.NIC(1, 0).Link().A.Stats().Sent
		require.InEpsilon(t, 4178*(1001+6*18), float64(sent), 0.02, "nothing is sent three times")
	}
}

// A request that comes after its NAK ends the silence, whatever its kind, and the next
// gap makes a NAK again.
func TestEachGapHasItsNAK(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	r := p.peer
	for _, kind := range []packetKind{packetRead, packetWrite, packetRead} {
		expected := r.expected
		r.receiveData(&packet{kind: packetWrite, psn: expected + 1, last: true})
		require.True(t, r.refused)
		require.Equal(t, expected, r.expected)
		if kind == packetRead {
			r.receiveRead(&packet{kind: kind, psn: expected, bytes: 1})
		} else {
			r.receiveData(&packet{kind: kind, psn: expected, last: true})
		}
		require.False(t, r.refused)
		require.Equal(t, expected+1, r.expected)
	}
}

// Completions of one instant are told once.
func TestNotifyOnce(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	calls := 0
	p.done.Notify(func() { calls++ })
	for range 3 {
		require.NoError(t, p.q.Post(WR{Bytes: 1}))
	}
	p.q.receiveACK(3)
	s.Drain()
	require.Equal(t, 1, calls)
	require.Len(t, poll(p.done), 3)
}

// Answers to what has long been settled change nothing.
func TestStaleAnswers(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	require.NoError(t, p.q.Post(WR{Bytes: 1 << 20}))
	s.Run(50 * time.Microsecond)
	require.Greater(t, p.q.una, uint64(10))
	before := p.q.requester
	p.q.receiveACK(3)
	p.q.receiveNAK(3)
	p.q.receiveRNR(3)
	p.q.receiveNAK(p.q.nxt) // of what was sent before it went back
	p.q.receiveRNR(p.q.nxt)
	after := p.q.requester
	after.una, after.claimed, after.deadline, after.head, after.next = before.una, before.claimed, before.deadline, before.head, before.next
	require.Equal(t, before, after)
	require.Zero(t, p.q.Stats().Resent)
}

// READ data flows the other way, at most MaxReads are outstanding, and what is behind
// waits.
func TestReads(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	cfg := DefaultQP()
	cfg.MaxReads = 2
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), cfg)
	for id := range uint64(5) {
		require.NoError(t, p.q.Post(WR{ID: id, Op: Read, Bytes: 1 << 20}))
	}
	require.NoError(t, p.q.Post(WR{ID: 5, Op: Write, Bytes: 1}))
	most := 0
	s.Every(time.Microsecond, func() bool {
		most = max(most, p.q.reads)
		if p.q.Outstanding() > 3 {
			require.Zero(t, p.peer.Stats().Received, "the WRITE overtook a READ that waits")
		}
		return p.q.Outstanding() > 0
	})
	s.Drain()
	require.Equal(t, 2, most)
	done := poll(p.done)
	require.Len(t, done, 6)
	for i, c := range done {
		require.Equal(t, Completion{WRID: uint64(i), QPNum: p.q.Num}, c)
	}
	require.Equal(t, int64(5<<20), p.q.Stats().Received)
	a, b := s.NIC(0, 0).Link().A.Stats().Sent, s.NIC(1, 0).Link().A.Stats().Sent
	require.Less(t, a, int64(2000))
	require.Greater(t, b, int64(5<<20))
}

// A WRITE that is acknowledged before the data of an earlier READ has come completes
// after it.
func TestAckOvertakesReadData(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	require.NoError(t, p.q.Post(WR{ID: 1, Op: Read, Bytes: 1 << 20}))
	require.NoError(t, p.q.Post(WR{ID: 2, Op: Write, Bytes: 1}))
	s.Run(20 * time.Microsecond)
	require.Equal(t, p.q.at(1).last+1, p.q.claimed, "the ACK is there")
	require.Empty(t, poll(p.done))
	s.Drain()
	done := poll(p.done)
	require.Len(t, done, 2)
	require.Equal(t, []uint64{1, 2}, []uint64{done[0].WRID, done[1].WRID})
	require.Zero(t, p.q.Stats().Resent)
}

// A SEND without a receive waits RNRDelay and is tried again; the tries are counted
// unless they are for ever.
func TestReceiverNotReady(t *testing.T) {
	for _, tries := range []int{0, 2, 7} {
		s := mustNew(t, Config{Topology: Star(2)})
		cfg := DefaultQP()
		cfg.RNRRetry = tries
		p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), cfg)
		at := when(s, p.done, 1)
		require.NoError(t, p.q.Post(WR{ID: 1, Op: Send, Bytes: 1}))
		require.NoError(t, p.q.Post(WR{ID: 2, Op: Write, Bytes: 1 << 20}))
		trip := 2*transmission(1+dataOverhead, 100e9) + 2*transmission(ackWire, 100e9) + 4*Microsecond
		if tries == 7 {
			s.At(20*640*time.Microsecond, func() { require.NoError(t, p.peer.PostRecv(7)) })
			s.Drain()
			require.Equal(t, []classify.Status{0, 0}, statuses(poll(p.done)))
			require.Equal(t, []Completion{{WRID: 7, QPNum: p.peer.Num}}, poll(p.recv))
			continue
		}
		s.Drain()
		require.Equal(t, []classify.Status{classify.StatusRNRRetryExcErr, classify.StatusWRFlushErr}, statuses(poll(p.done)))
		// The WRITE behind the SEND may keep the wire busy when a try is due.
		require.InDelta(t, us(Time(tries)*640*Microsecond+Time(tries+1)*trip), us(*at), 0.4*float64(tries+1))
		require.Zero(t, p.peer.Stats().Received, "what is behind a refused SEND is not carried out")
	}
}

func TestQueueLimits(t *testing.T) {
	s := mustNew(t, Config{Topology: Star(2)})
	cfg := DefaultQP()
	cfg.SendDepth, cfg.RecvDepth = 3, 1
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), cfg)
	for range 3 {
		require.NoError(t, p.q.Post(WR{Bytes: 1, Unsignaled: true}))
	}
	require.ErrorIs(t, p.q.Post(WR{Bytes: 1}), ErrQueueFull)
	require.NoError(t, p.peer.PostRecv(1))
	require.ErrorIs(t, p.peer.PostRecv(2), ErrQueueFull)
	s.Drain()
	require.Empty(t, poll(p.done), "no completion was asked for")
	require.NoError(t, p.q.Post(WR{}))
	for _, bad := range []WR{{Op: 3}, {Bytes: -1}, {Bytes: 1<<31 + 1}} {
		require.ErrorIs(t, p.q.Post(bad), ErrBadRequest)
	}
	p.peer.Fail(classify.StatusGeneralErr)
	require.Equal(t, []Completion{{WRID: 1, Status: classify.StatusWRFlushErr, QPNum: p.peer.Num, VendorErr: 0x5305}}, poll(p.recv))
	p.q.Destroy()
	s.Drain()
	require.Empty(t, poll(p.done))
	require.ErrorIs(t, p.q.Post(WR{}), ErrDestroyed)
	require.ErrorIs(t, p.q.PostRecv(1), ErrDestroyed)
}
