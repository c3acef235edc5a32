package rail

import (
	"cmp"
	"math"
	"slices"

	"github.com/rdmagate/rdmagate/classify"
)

//go:generate go tool stringer -type=Link,Match,Exclusion,Standing,Outcome -linecomment -output=select_string.go

// Standing is what the caller knows of a path's health.
type Standing uint8

// The standings, best first.
const (
	// Healthy: nothing bad is known.
	Healthy Standing = iota // healthy
	// Suspect: it has failed lately, and little should go there.
	Suspect // suspect
	// Paused: do not use. It is listed all the same, last, so that a caller whose
	// trials are transfers can see it.
	Paused // paused
)

// Outcome is whether there is a path to take.
type Outcome uint8

// The outcomes.
const (
	// NoPath: no pair of NICs may be used at all. [Map.Explain] tells why, pair by
	// pair. Waiting does not help.
	NoPath Outcome = iota // no path
	// AllPaused: there are pairs, and each is paused. They are listed. A trial may
	// bring one back.
	AllPaused // all paused
	// Found: at least one pair may be used now.
	Found // found
)

// Reason is the reason to give to a task that is left without a path, see
// taskstate.Task.NoUsablePath; it is ReasonNone if a path was found.
func (o Outcome) Reason() classify.Reason {
	if o == Found {
		return classify.ReasonNone
	}
	return classify.ReasonNoUsablePath
}

// Want says between which buffers data is to move, and what the caller knows of the
// paths at the moment. The zero value knows nothing.
type Want struct {
	// Local and Remote are the NUMA nodes of the buffers.
	Local, Remote Node
	// Turn spreads callers over paths that are equally good: the next number begins
	// with the next of them. Use a worker's number, or a counter of transfers.
	Turn uint64
	// Bytes is how much is to be placed. A slow path is then chosen only if the fast
	// ones have more to do than makes up for it. 0 weighs the load alone.
	Bytes int64
	// Standing returns the health of a path. Nil is Healthy.
	Standing func(*Path) Standing
	// Load returns how many bytes are under way on a path, or on its devices. Nil
	// and negative loads are 0.
	Load func(*Path) int64
}

// Choice is a path that may be used, with what the caller said of it.
type Choice struct {
	*Path
	Standing Standing
	Load     int64

	// key orders the choices: standing, rail, NUMA nodes, cost and index, from the
	// highest bits down. Those of one class differ in the index alone.
	key uint64
}

// indexBits is how much of a key is the index. It must hold that of any Map.
const (
	indexBits = 16
	_         = uint(1<<indexBits - MaxNICs*MaxNICs)
)

func (c *Choice) class() uint64 { return c.key >> indexBits }

// Select lists the paths that may be used, best first:
//
//  1. healthy paths, then suspect ones, then paused ones
//  2. those of the same rail, see [Match], before the others
//  3. those whose NICs are on the NUMA nodes of the buffers; a NIC of an unknown
//     node comes after one that is near and before one that is far
//  4. those that would be done first: load and bytes by speed
//  5. in turn
//
// The list is written to the memory of list, whose content is lost; with enough of
// it nothing is allocated. Asking changes nothing in the Map, calls each function
// of the Want once for each path, and is cheap enough for every transfer.
func (m *Map) Select(list []Choice, w Want) ([]Choice, Outcome) {
	list = slices.Grow(list[:0], len(m.usable))
	outcome := NoPath
	for _, p := range m.usable {
		c := w.weigh(p)
		if c.Standing < Paused {
			outcome = Found
		}
		list = append(list, c)
	}
	if len(list) > 0 && outcome != Found {
		outcome = AllPaused
	}
	slices.SortFunc(list, func(a, b Choice) int { return cmp.Compare(a.key, b.key) })
	takeTurns(list, w.Turn)
	return list, outcome
}

func (w *Want) weigh(p *Path) Choice {
	c := Choice{Path: p}
	if w.Standing != nil {
		c.Standing = min(w.Standing(p), Paused)
	}
	if w.Load != nil {
		c.Load = max(w.Load(p), 0)
	}
	rank := uint64(c.Standing) << 4
	if !p.SameRail() {
		rank |= 1 << 3
	}
	rank += away(p.localNode, w.Local) + away(p.remoteNode, w.Remote)
	cost := (float64(c.Load) + float64(max(w.Bytes, 0))) / p.rate
	c.key = rank<<(32+indexBits) | costBits(cost)<<indexBits | uint64(p.Index)
	return c
}

// costBits returns 32 bits that grow with a cost: those of a floating-point number
// that is not negative do. Costs that differ by less than one in ten million are
// equal.
func costBits(cost float64) uint64 { return uint64(math.Float32bits(float32(cost))) }

// away is 0 for a NIC that is near its buffer, 2 for one that is not, and between
// them when that is not known.
func away(nic, buffer Node) uint64 {
	switch {
	case !nic.Known || !buffer.Known:
		return 1
	case nic.ID == buffer.ID:
		return 0
	}
	return 2
}

// takeTurns rotates each run of equally good choices.
func takeTurns(list []Choice, turn uint64) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].class() == list[0].class() {
			n++
		}
		run, k := list[:n], int(turn%uint64(n))
		slices.Reverse(run[:k])
		slices.Reverse(run[k:])
		slices.Reverse(run)
		list = list[n:]
	}
}
