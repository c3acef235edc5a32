package main

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// order returns in which order n arms run in a round. A round with an odd number has the
// order of the one before it in reverse, so that what drifts hits all alike.
func order(seed uint64, step string, round, n int) []int {
	h := fnv.New64a()
	h.Write([]byte(step))
	list := rand.New(rand.NewPCG(seed, h.Sum64()+uint64(round/2))).Perm(n)
	if round%2 == 1 {
		slices.Reverse(list)
	}
	return list
}
