package fabric

import (
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

// The agenda against a sorted list: by time, and by scheduling within an instant.
func TestAgendaOrder(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	var a agenda
	type entry struct {
		at     Time
		target int32
	}
	var model []entry
	for i := range int32(20000) {
		if r.IntN(5) < 3 || len(model) == 0 {
			at := Time(r.IntN(500))
			a.push(at, eventKind(i%10), i)
			model = append(model, entry{at, i})
			continue
		}
		sort.SliceStable(model, func(i, j int) bool { return model[i].at < model[j].at })
		require.Equal(t, model[0].at, a.next(), "seed %d", seed)
		e := a.pop()
		require.Equal(t, model[0], entry{e.at, e.target}, "seed %d", seed)
		require.Equal(t, eventKind(e.target%10), e.kind())
		model = model[1:]
		require.Equal(t, len(model), a.len())
	}
}

func BenchmarkAgenda(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 0))
	var a agenda
	for range 1500 {
		a.push(Time(r.IntN(1e6)), eventArrive, 0)
	}
	for b.Loop() {
		e := a.pop()
		a.push(e.at+Time(e.order*7919%1e6), eventArrive, 0)
	}
}
