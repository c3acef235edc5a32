package fabric

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/classify"
)

// manifest is a Cargo that writes down what it is told, and refuses some of it.
type manifest struct {
	log     []string
	arrival map[uint64]classify.Status // by ID; others succeed
	data    map[uint64]classify.Status
}

func (m *manifest) Arrive(wr WR, recv uint64) classify.Status {
	m.log = append(m.log, fmt.Sprint("arrive ", wr.ID, " ", recv))
	return m.arrival[wr.ID]
}

func (m *manifest) Fetch(wr WR) classify.Status {
	m.log = append(m.log, fmt.Sprint("fetch ", wr.ID))
	return m.data[wr.ID]
}

// Post a READ, a WRITE, a SEND and a READ of several packets each, and refuse some.
func TestCargo(t *testing.T) {
	const ok, flushed = classify.StatusSuccess, classify.StatusWRFlushErr
	const access, local = classify.StatusRemAccessErr, classify.StatusLocProtErr
	all := []string{"arrive 1 0", "arrive 2 0", "arrive 3 9", "arrive 4 0", "fetch 1", "fetch 4"}
	for _, tc := range []struct {
		name          string
		arrival, data map[uint64]classify.Status
		want          [4]classify.Status
		log           []string
		peerFails     bool
	}{
		{"all are taken", nil, nil, [4]classify.Status{}, all, false},
		{"READ refused", map[uint64]classify.Status{1: access}, nil, [4]classify.Status{access, flushed, flushed, flushed}, all[:1], true},
		{"WRITE refused behind a READ", map[uint64]classify.Status{2: access}, nil, [4]classify.Status{ok, access, flushed, flushed},
			[]string{"arrive 1 0", "arrive 2 0", "fetch 1"}, true},
		{"SEND refused", map[uint64]classify.Status{3: classify.StatusRemInvReqErr}, nil,
			[4]classify.Status{ok, ok, classify.StatusRemInvReqErr, flushed}, []string{"arrive 1 0", "arrive 2 0", "arrive 3 9", "fetch 1"}, true},
		{"own mistake behind a READ", map[uint64]classify.Status{2: local}, nil, [4]classify.Status{ok, local, flushed, flushed},
			[]string{"arrive 1 0", "arrive 2 0", "fetch 1"}, false},
		{"data without a place", nil, map[uint64]classify.Status{1: local}, [4]classify.Status{local, flushed, flushed, flushed}, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := mustNew(t, Config{Seed: 1, Topology: Star(2)})
			p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
			m := &manifest{arrival: tc.arrival, data: tc.data}
			p.q.Carry(m)
			require.NoError(t, p.peer.PostRecv(9))
			for i, op := range []Op{Read, Write, Send, Read} {
				require.NoError(t, p.q.Post(WR{ID: uint64(i + 1), Op: op, Bytes: 20_000}))
			}
			s.Drain()
			for i, c := range poll(p.done) {
				assert.Equal(t, Completion{uint64(i + 1), tc.want[i], p.q.Num, vendor(tc.want[i])}, c)
			}
			assert.Equal(t, tc.peerFails, p.peer.Failed(), "the peer's QP fails when it refuses")
			if tc.log != nil {
				assert.Equal(t, tc.log, m.log)
			}
			assert.Zero(t, s.Totals().InFabric())
		})
	}
}

func vendor(s classify.Status) uint32 {
	if s == classify.StatusSuccess {
		return 0
	}
	return vendorErr + uint32(s)
}

// Under loss, whatever has to be sent again arrives once.
func TestCargoArrivesOnce(t *testing.T) {
	for seed := range uint64(20) {
		s := mustNew(t, Config{Seed: seed, Topology: Star(2)})
		cfg := DefaultQP()
		cfg.Timeout = 8
		p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), cfg)
		m := &manifest{}
		p.q.Carry(m)
		for _, port := range []*Port{s.NIC(0, 0).Link().A, s.NIC(1, 0).Link().A} {
			port.Lose(0.02)
		}
		const n = 100
		for i := range uint64(n) {
			require.NoError(t, p.q.Post(WR{ID: i, Op: Op(i % 2), Bytes: 20_000}))
		}
		s.Drain()
		require.Len(t, poll(p.done), n)
		require.NotZero(t, p.q.Stats().Resent+p.peer.Stats().Resent, "seed %d: nothing was lost", seed)
		arrived, fetched := 0, 0
		for _, line := range m.log {
			if line == fmt.Sprint("arrive ", arrived, " 0") {
				arrived++
			} else if line == fmt.Sprint("fetch ", 2*fetched+1) {
				fetched++
			} else {
				t.Fatalf("seed %d: %s after %d arrivals and %d fetches", seed, line, arrived, fetched)
			}
		}
		require.Equal(t, []int{n, n / 2}, []int{arrived, fetched}, "seed %d", seed)
	}
}

// What was on its way when the QP failed arrives no more.
func TestCargoOfAFailedQP(t *testing.T) {
	s := mustNew(t, Config{Seed: 1, Topology: Star(2)})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	m := &manifest{}
	p.q.Carry(m)
	require.NoError(t, p.q.Post(WR{ID: 1, Bytes: 1000}))
	s.Run(time.Microsecond)
	p.q.Fail(classify.StatusWRFlushErr)
	s.Drain()
	assert.NotZero(t, s.Totals().Delivered, "the packet itself is there")
	assert.Empty(t, m.log)
}

// A QP answers once it is joined to the one that asks.
func TestJoin(t *testing.T) {
	s := mustNew(t, Config{Seed: 1, Topology: Star(2)})
	cq := s.NewCQ()
	a, err := s.NewQP(Endpoint{NIC: s.NIC(0, 0), Send: cq}, DefaultQP())
	require.NoError(t, err)
	b, err := s.NewQP(Endpoint{NIC: s.NIC(1, 0)}, DefaultQP())
	require.NoError(t, err)
	require.ErrorIs(t, a.Post(WR{}), ErrBadRequest)
	require.Error(t, a.Join(a), "of one NIC")
	require.NoError(t, a.Join(b))
	require.Error(t, a.Join(b), "twice")
	require.NoError(t, a.Post(WR{ID: 1}))
	s.Run(100 * time.Millisecond)
	require.Empty(t, poll(cq))
	require.NoError(t, b.Join(a))
	s.Run(200 * time.Millisecond)
	require.Len(t, poll(cq), 1, "the next try finds it")

	_, err = s.NewQP(Endpoint{}, DefaultQP())
	require.Error(t, err)
	_, err = s.NewQP(Endpoint{NIC: s.NIC(0, 0)}, QPConfig{})
	require.Error(t, err)
}

// A block is of one pair and one direction.
func TestBlock(t *testing.T) {
	s := mustNew(t, Config{Seed: 1, Topology: Star(3)})
	cfg := DefaultQP()
	cfg.Timeout, cfg.Retry = 8, 1
	status := func(from, to int) classify.Status {
		p := connect(t, s, s.NIC(from, 0), s.NIC(to, 0), cfg)
		require.NoError(t, p.q.Post(WR{Bytes: 10_000}))
		s.Drain()
		return poll(p.done)[0].Status
	}
	s.NIC(0, 0).Block(s.NIC(1, 0), true)
	assert.Equal(t, classify.StatusRetryExcErr, status(0, 1))
	assert.Equal(t, classify.StatusRetryExcErr, status(1, 0), "for want of ACKs")
	assert.Equal(t, classify.StatusSuccess, status(0, 2))
	assert.Equal(t, classify.StatusSuccess, status(2, 1))
	s.NIC(0, 0).Block(s.NIC(1, 0), false)
	assert.Equal(t, classify.StatusSuccess, status(0, 1))
}

func TestNext(t *testing.T) {
	s := mustNew(t, Config{Seed: 1, Topology: Star(1)})
	_, ok := s.Next()
	require.False(t, ok)
	s.call(Nanosecond+1, func() {})
	at, ok := s.Next()
	require.True(t, ok)
	require.Equal(t, 2*time.Nanosecond, at, "a run until then carries it out")
	s.Run(at)
	require.EqualValues(t, 1, s.Events())
}
