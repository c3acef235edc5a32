package each

import (
	"fmt"
	"testing"
	"time"
)

// TestShow shows what the functions return, a line each.
func TestShow(t *testing.T) {
	show := func(name string, results ...any) {
		fmt.Print(name, ":")
		for _, r := range results {
			fmt.Print(" ", r)
		}
		fmt.Println()
	}
	safe := func(f func() int) (result any) {
		defer func() {
			if r := recover(); r != nil {
				result = "panic"
			}
		}()
		return f()
	}
	show("var size", size)
	show("Below", Below(1, 2), Below(2, 2), Below(3, 2))
	show("Equal", Equal(1, 2), Equal(2, 2))
	show("Both", Both(true, true), Both(true, false), Both(false, true), Both(false, false))
	show("Either", Either(true, true), Either(true, false), Either(false, true), Either(false, false))
	show("Not", Not(true))
	show("Minus", Minus(3))
	show("Difference", Difference(7, 2))
	show("Product", Product(6, 2))
	show("Shifted", Shifted(64))
	show("Union", Union(5, 3))
	show("Without", Without(5, 3))
	show("Remainder", Remainder(7, 3))
	show("Larger", Larger(7, 3))
	show("Joined", Joined("a", "b"))
	show("Bytes", Bytes(1))
	show("Later", Later(time.Minute))
	show("Positive", Positive(-1), Positive(0), Positive(1), Positive(2))
	show("Called", Called(nil), Called(make([]int, 2)))
	show("empty", empty(nil), empty(make([]int, 1)), empty(make([]int, 2)), empty(make([]int, 3)))
	show("Evens", Evens(6))
	show("Until", Until([]int{1, 2, 3, 4}, 3))
	calls := ""
	Unlocked(func() { calls += "l" }, func() { calls += "u" })
	show("Unlocked", calls)
	show("Check", Check(8), Check(9), Check(10), Check(11))
	show("Array", Array())
	show("Sent", Sent(5))
	show("MustPositive", safe(func() int { return MustPositive(0) }), safe(func() int { return MustPositive(1) }), safe(func() int { return MustPositive(2) }))
	show("Recovered", Recovered())
	show("Full", Full(254), Full(255))
}
