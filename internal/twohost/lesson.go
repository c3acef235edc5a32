package twohost

import (
	"cmp"
	"slices"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
)

// Lesson is what it cost to learn that one path does not work. Times count from the
// start of the run.
type Lesson struct {
	Path Path
	// Rounds is how many timeouts passed one after the other: a slice that was posted
	// after the first of a round had failed belongs to the next.
	Rounds int
	// Slices failed, by timeout or behind one on the same QP. After of them were
	// posted when the first failure was known.
	Slices, After int
	// First and Last are when the first and the last of them ended.
	First, Last time.Duration
	// Paused is how many controllers have paused the path by the end of the run, and
	// PausedAt when the first did.
	Paused   int
	PausedAt time.Duration
}

// user reports whether a slice is of a transfer; a probe is shorter.
func (run Run) user(s Slice) bool { return s.Bytes == int64(run.Numbers.SliceBytes) }

// failed returns the user slices that met a timeout: those that timed out themselves,
// and those that were flushed behind one.
func (run Run) failed() (list []Slice) {
	timedOut := map[uint64]bool{}
	for _, s := range run.Slices {
		if s.Status == classify.StatusRetryExcErr {
			timedOut[s.QP] = true
		}
	}
	for _, s := range run.Slices {
		if run.user(s) && s.Status != classify.StatusSuccess && timedOut[s.QP] {
			list = append(list, s)
		}
	}
	return list
}

// lessons returns what each path cost that had a failure, by path.
func lessons(run Run) (list []Lesson) {
	byPath := map[Path][]Slice{}
	for _, s := range run.failed() {
		byPath[s.Path] = append(byPath[s.Path], s)
	}
	for path, lost := range byPath {
		l := Lesson{Path: path, Slices: len(lost), Rounds: rounds(lost)}
		l.First = slices.MinFunc(lost, byEnd).Ended - run.Begin
		l.Last = slices.MaxFunc(lost, byEnd).Ended - run.Begin
		for _, s := range lost {
			if s.Posted-run.Begin > l.First+known {
				l.After++
			}
		}
		l.pauses(run)
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b Lesson) int {
		return cmp.Or(cmp.Compare(a.Path.Local, b.Path.Local), cmp.Compare(a.Path.Remote, b.Path.Remote))
	})
	return list
}

// known is how long after its completion was polled a failure is certainly known to
// whoever asks for admission; the emulation may stop a worker between the two.
const known = 20 * time.Millisecond

func byEnd(a, b Slice) int { return cmp.Compare(a.Ended, b.Ended) }

// rounds counts the timeouts that passed one after the other.
func rounds(lost []Slice) (n int) {
	lost = slices.Clone(lost)
	slices.SortFunc(lost, func(a, b Slice) int { return cmp.Compare(a.Posted, b.Posted) })
	for len(lost) > 0 {
		n++
		over := lost[0].Ended // when the round's first failure was seen
		rest := lost
		for len(rest) > 0 && rest[0].Posted <= over {
			over = min(over, rest[0].Ended)
			rest = rest[1:]
		}
		lost = rest
	}
	return n
}

// pauses looks at which controllers have the path paused in the end.
func (l *Lesson) pauses(run Run) {
	paused := map[int]bool{}
	for _, v := range run.Verdicts {
		if v.Path != l.Path {
			continue
		}
		if v.To >= cc.Quarantined && l.PausedAt == 0 {
			l.PausedAt = v.At - run.Begin
		}
		paused[v.Controller] = v.To >= cc.Quarantined
	}
	for _, is := range paused {
		if is {
			l.Paused++
		}
	}
}
