package main

/*
static void nothing(void) {}
*/
import "C"

import "github.com/rdmagate/rdmagate/bench/internal/measure"

// cgoFloor is the least that a post costs which is made from Go.
func cgoFloor() []scenario {
	return []scenario{alone(floor, floorCgo, "the least that a call of ibv_post_send costs", func() measure.Loop {
		return func(n int) {
			for range n {
				C.nothing()
			}
		}
	})}
}
