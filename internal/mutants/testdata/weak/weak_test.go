package weak

import "testing"

func TestFull(t *testing.T) {
	for n, want := range []bool{false, false, true, true} {
		if Full(n, 2) != want {
			t.Error(n)
		}
	}
}

// It does not ask at the limit.
func TestCrowded(t *testing.T) {
	if Crowded(1, 2) || !Crowded(3, 2) {
		t.Error("wrong")
	}
}

func TestSame(t *testing.T) {
	for _, n := range []int{-2, 0, 2} {
		if Same(n) != max(n, -n) {
			t.Error(n)
		}
	}
}

func TestDown(t *testing.T) { Down(3) }

func TestWaits(t *testing.T) {
	if Waits() != 3 {
		t.Error("wrong")
	}
}

// It sees the functions that mutants bring with them.
func TestDepth(t *testing.T) {
	if Depth() != callers() {
		t.Errorf("%d calls", Depth())
	}
}
