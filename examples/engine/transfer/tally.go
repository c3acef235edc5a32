package transfer

import (
	"sync/atomic"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
)

// kinds is more than there are reasons, classes or answers.
const kinds = 32

// tally counts what a lane was told. Its goroutine writes, anybody reads.
type tally struct {
	rulings  [kinds / 4][kinds]atomic.Uint64 // by answer and reason
	classes  [kinds]atomic.Uint64
	late     atomic.Uint64
	unposted atomic.Uint64
}

func (t *tally) decided(r cc.Ruling) { t.rulings[r.Answer%(kinds/4)][r.Reason%kinds].Add(1) }

func (t *tally) completed(v classify.Verdict) { t.classes[v.Class()%kinds].Add(1) }

// RulingCount counts the answers of one kind.
type RulingCount struct {
	Answer cc.Answer
	Reason classify.Reason
	Count  uint64
}

// ClassCount counts completions and signals of one class.
type ClassCount struct {
	Class classify.Class
	Count uint64
}

// Totals is what all workers of an engine were told.
type Totals struct {
	Rulings []RulingCount // kinds with none are left out
	Classes []ClassCount  // kinds with none are left out
	// Late is the number of completions that came after a teardown had settled
	// their slice; Unposted the number of admitted slices that were not posted.
	Late, Unposted uint64
	// Probes is how many probes were posted, ProbesSucceeded how many of them came back.
	// The other numbers are without them.
	Probes, ProbesSucceeded uint64
}

// Totals adds up what the workers and the prober have counted.
func (e *Engine) Totals() Totals {
	sum := Totals{Probes: e.prober.sent.Load(), ProbesSucceeded: e.prober.succeeded.Load()}
	for a := range uint8(kinds / 4) {
		for r := range uint8(kinds) {
			c := RulingCount{Answer: cc.Answer(a), Reason: classify.Reason(r)}
			for _, w := range e.workers {
				c.Count += w.tally.rulings[a][r].Load()
			}
			if c.Count > 0 {
				sum.Rulings = append(sum.Rulings, c)
			}
		}
	}
	for k := range uint8(kinds) {
		c := ClassCount{Class: classify.Class(k)}
		for _, w := range e.workers {
			c.Count += w.tally.classes[k].Load()
		}
		if c.Count > 0 {
			sum.Classes = append(sum.Classes, c)
		}
	}
	for _, w := range e.workers {
		sum.Late += w.tally.late.Load()
		sum.Unposted += w.tally.unposted.Load()
	}
	return sum
}
