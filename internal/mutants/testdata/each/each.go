// Package each has a mutation point of each kind.
package each

import (
	"errors"
	"time"
)

// Names that hide types, as variables may.
type bytes int

var size = 4 * 2

const (
	step  = 2
	first = iota
	second
)

func Below(a, b int) bool { return a < b }

func Equal(a, b int) bool { return a == b }

func Both(a, b bool) bool { return a && b }

func Either(a, b bool) bool { return a || b }

func Not(a bool) bool { return !a }

func Minus(n int) int { return -n }

func Difference(a, b int) int { return a - b }

func Product(a, b int) int { return a * b }

func Shifted(n uint8) uint8 { return n << 1 }

func Union(a, b int) int { return a | b }

func Without(a, b uint) uint { return a &^ b }

func Remainder(a, b int) int { return a % b }

func Larger(a, b int) int { return max(a, b) }

func Joined(a, b string) string { return a + b }

func Bytes(n int) int {
	bytes := bytes(n)
	return int(bytes + 3)
}

func Later(now time.Duration) time.Duration { return now + 5*time.Second }

func Positive(n int) string {
	if n > 0 {
		return "yes"
	}
	return "no"
}

func Called(list []int) string {
	if empty(list) {
		return "empty"
	}
	return "full"
}

func empty(list []int) bool {
	switch {
	case len(list) < second:
		return true
	}
	return false
}

func Evens(limit int) (n int) {
	for i := 0; i < limit; i += step {
		n++
		if n > 20 {
			return -1
		}
	}
	return n
}

func Until(list []int, stop int) (sum int) {
	for _, v := range list {
		if v == stop {
			break
		}
		sum += v
	}
	return sum
}

func Unlocked(lock, unlock func()) {
	lock()
	defer unlock()
}

var errBig = errors.New("big")

func Check(n int) error {
	switch {
	case n > 9:
		return errBig
	}
	return nil
}

func Array() [2]int { return [2]int{first: 7} }

func Sent(n int) int {
	c := make(chan int, 1)
	c <- n
	select {
	case v := <-c:
		n = v + n
	default:
	}
	return n
}

func MustPositive(n int) int {
	if n > 0 {
		return n
	}
	panic("not positive")
}

func Recovered() (ok bool) {
	defer func() {
		if recover() != nil {
			ok = true
		}
	}()
	panic("always")
}

// One more would be none.
func Full(n uint8) bool { return n == 255 }
