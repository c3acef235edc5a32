package fabric

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// congested returns a QP that nobody marks, to drive its reaction point by hand.
func congested(t *testing.T, law *DCQCN) (*Sim, *QP) {
	s := mustNew(t, Config{Topology: Star(2), DCQCN: law})
	return s, connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP()).q
}

// The paper's reaction point: cuts of alpha/2, alpha by one step each 55 us, five fast
// steps to the target, then additive, then hyper increase.
func TestReactionPoint(t *testing.T) {
	law := PaperDCQCN()
	law.ByteCounter = 0
	s, q := congested(t, law)
	line := 100e9
	require.Equal(t, line, q.Rate())
	q.receiveCNP()
	require.Equal(t, line/2, q.Rate(), "alpha is 1 at first")
	rate := line / 2
	for range 5 {
		s.Run(s.Now() + 55*time.Microsecond)
		rate = (rate + line) / 2
		require.Equal(t, rate, q.Rate(), "fast recovery")
	}
	s.Run(550 * time.Microsecond)
	require.Equal(t, line, q.Rate(), "what is nearly the line rate is the line rate")

	s.Run(time.Millisecond)
	q.receiveCNP() // 18 intervals of 55 us later, the first of them with a CNP
	g := 1. / 256
	alpha := (1 - g + g) * math.Pow(1-g, 17)
	require.InEpsilon(t, alpha, q.alpha, 1e-12)
	require.InEpsilon(t, line*(1-alpha/2), q.Rate(), 1e-12)

	q.receiveCNP()
	rate = line * (1 - alpha/2) * (1 - alpha/2)
	target := line * (1 - alpha/2)
	require.InEpsilon(t, rate, q.Rate(), 1e-12)
	for step := range 8 {
		s.Run(s.Now() + 55*time.Microsecond)
		switch {
		case step == 5:
			target += law.AI
		case step > 5:
			target += law.HAI
		}
		rate = (rate + target) / 2
		require.InEpsilon(t, rate, q.Rate(), 1e-12, "step %d", step)
	}
	for range 100 {
		q.receiveCNP()
	}
	require.Equal(t, law.MinRate, q.Rate())
}

// The byte counter makes steps too, and hyper increase needs both.
func TestByteCounter(t *testing.T) {
	law := PaperDCQCN()
	law.Timer = time.Hour
	_, q := congested(t, law)
	q.receiveCNP()
	q.receiveCNP()
	rate, target := q.Rate(), q.target
	k := &packet{wire: 4178}
	for step := range 8 {
		for range int(math.Ceil(10e6 / 4178.)) {
			q.pace(k)
		}
		if step >= 5 {
			target += law.AI
		}
		rate = (rate + target) / 2
		require.InEpsilon(t, rate, q.Rate(), 1e-12, "step %d", step)
	}
}

// With CutEvery the first cut waits, and CNPs in between make one.
func TestCutEvery(t *testing.T) {
	s, q := congested(t, DeploymentDCQCN(100e9))
	for range 40 { // one each 100 ns
		q.receiveCNP()
		s.Run(s.Now() + 100*time.Nanosecond)
	}
	require.InEpsilon(t, 50e9, q.Rate(), 0.01, "one cut after 4 us")
	q.receiveCNP()
	s.Run(8 * time.Microsecond)
	require.InEpsilon(t, 25e9, q.Rate(), 0.02, "one more after 4 us")
	require.Equal(t, 100e9, q.target, "the target stays")
	s.Run(100 * time.Microsecond)
	q.receiveCNP()
	require.Less(t, q.Rate(), 20e9, "at once when there was none for long")
}

// A receiver sends one CNP each 50 us to a QP, however much is marked, and the sender
// keeps to its rate.
func TestNotificationPointAndPacing(t *testing.T) {
	law := PaperDCQCN()
	law.MinRate = 10e9
	s := mustNew(t, Config{Topology: Star(2), DCQCN: law, Switch: SwitchConfig{ECN: &ECN{KMin: 0, KMax: 0, PMax: 1}}})
	p := connect(t, s, s.NIC(0, 0), s.NIC(1, 0), DefaultQP())
	require.NoError(t, p.q.Post(WR{Bytes: 1 << 30}))
	s.Run(time.Millisecond)
	require.InDelta(t, 19, p.q.Stats().CNPs, 1)
	require.Equal(t, law.MinRate, p.q.Rate())
	before := p.peer.Stats().Received
	s.Run(3 * time.Millisecond)
	require.InEpsilon(t, law.MinRate*2e-3/8*4096/4178, float64(p.peer.Stats().Received-before), 0.01)
}
