package cc

import (
	"encoding/binary"
	"slices"
	"testing"
)

// opBytes is how many bytes make one operation: its kind and three numbers.
const opBytes = 7

// fuzzKinds are the operations of all mixes that need no bubble.
var fuzzKinds = func() (kinds []string) {
	for _, m := range modelMixes {
		for _, kind := range m {
			if kind != "wait" && kind != "give-up" && !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}()

// fuzzTraits are those of the configurations, in a fixed order.
var fuzzTraits = []string{"early", "jumpy", "keep", "open", "patient", "prober", "rare", "recorded", "round", "serial", "short", "slow", "touchy", "wide"}

// fuzzRun makes a run of bytes: two for the traits and the mode, then the operations.
func fuzzRun(data []byte) (s modelSetup, ops []modelOp) {
	s.mode = Enforce
	if len(data) < 2 {
		return s, nil
	}
	bits := binary.LittleEndian.Uint16(data)
	for i, trait := range fuzzTraits {
		if bits&(1<<i) != 0 {
			s.traits = append(s.traits, trait)
		}
	}
	if bits&(1<<15) != 0 {
		s.mode = Observe
	}
	for data = data[2:]; len(data) >= opBytes && len(ops) < runLength; data = data[opBytes:] {
		n := func(i int) uint32 { return uint32(binary.LittleEndian.Uint16(data[i:])) }
		ops = append(ops, modelOp{fuzzKinds[int(data[0])%len(fuzzKinds)], n(1), n(3), n(5)})
	}
	return s, ops
}

// FuzzAgainstModel plays what bytes say on the controller and on the model. Run it with
// -fuzzminimizetime 5x: making each find smaller takes most of the time otherwise.
func FuzzAgainstModel(f *testing.F) {
	for seed := range uint64(40) {
		data := make([]byte, 2+200*opBytes)
		binary.LittleEndian.PutUint16(data, uint16(seed*2621))
		x := seed + 1
		for i := 2; i < len(data); i++ {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			data[i] = byte(x)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ops := fuzzRun(data)
		if at, wrong := play(t, s, ops, newReach()); at >= 0 {
			t.Errorf("%v, %v, operation %d: %s\n%v", s.mode, s.traits, at, wrong, ops[:min(at+1, len(ops))])
		}
	})
}
