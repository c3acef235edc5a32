package fabric

import "math/rand/v2"

// mix spreads the bits of x over all 64 (the finaliser of splitmix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ (x >> 31)
}

// hash folds numbers into one, for paths. It depends on their order.
func hash(numbers ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range numbers {
		h = mix((h ^ n) + 0x9e3779b97f4a7c15)
	}
	return h
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, mix(seed))) }
