package main

import "testing"

// A slice of a list of 32 costs at most 4 ns where the floor is 20.4 ns.
func TestListNextToFloor(t *testing.T) {
	below(t, oursList, 4/20.4, floorCAS)
}

// listHandoverLimit is what a slice may cost between two cores, by a bare hand-over,
// when eight are settled at once.
const listHandoverLimit = 2.2

func TestListBetweenCores(t *testing.T) {
	below(t, oursListHandover, listHandoverLimit, floorHandover)
}
