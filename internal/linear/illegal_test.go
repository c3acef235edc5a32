package linear

import (
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
)

// Histories by hand, on a device with a window of 150 and routes with 100 each.
func TestModel(t *testing.T) {
	sc := &scenario{routes: 2, route: 100, device: 150}
	worker := 0
	at := func(call, ret int64, k kind, n int64, ds ...int) event {
		worker++
		return event{op{kind: k, n: n, in: of(ds...), slot: worker}, 0, worker, call, ret}
	}
	list := func(e event) event {
		e.list = true
		return e
	}
	const dev, a, b = deviceDomain, 1, 2 // routes a and b
	tests := []struct {
		name  string
		legal bool
		h     []event
	}{
		{"what fits", true, []event{at(1, 2, admit, 60, dev, a), at(3, 4, admit, 40, dev, a), at(5, 6, admit, 50, dev, b)}},
		{"beyond the route's window", false, []event{at(1, 2, admit, 60, dev, a), at(3, 4, admit, 41, dev, a)}},
		{"beyond the device's window", false, []event{at(1, 2, admit, 100, dev, a), at(3, 4, admit, 51, dev, b)}},
		{"two at once find the same room", false, []event{at(1, 4, admit, 60, dev, a), at(2, 3, admit, 60, dev, a)}},
		{"room that comes back meanwhile", true, []event{at(1, 2, admit, 60, dev, a), at(3, 6, admit, 60, dev, a), at(4, 5, giveBack, 60, dev, a)}},
		{"room that comes back later", false, []event{at(1, 2, admit, 60, dev, a), at(3, 4, admit, 60, dev, a), at(5, 6, giveBack, 60, dev, a)}},
		{"above the window, alone", true, []event{at(1, 2, admit, 400, dev, a)}},
		{"above the window, beside another", false, []event{at(1, 2, admit, 1, dev, a), at(3, 4, admit, 400, dev, a)}},
		{"beside one above the window", false, []event{at(1, 2, admit, 400, dev, a), at(3, 4, admit, 1, dev, b)}},
		{"a list above the window, alone", false, []event{list(at(1, 2, admit, 101, dev, a))}},
		{"a list as large as the window", true, []event{list(at(1, 2, admit, 100, dev, a))}},
		{"refused by a full route", true, []event{at(1, 2, admit, 60, dev, a), at(3, 4, refuse, 41, a)}},
		{"refused by a route with room", false, []event{at(1, 2, admit, 60, dev, a), at(3, 4, refuse, 40, a)}},
		{"refused by a device with room", false, []event{at(1, 2, admit, 60, dev, a), at(3, 4, refuse, 90, dev)}},
		{"refused while another acquires", true, []event{at(1, 4, admit, 60, dev, a), at(2, 3, refuse, 40, a)}},
		{"refused while another is refused", true, []event{at(1, 4, refuse, 60, a), at(2, 3, refuse, 60, a)}},
		{"refused before another acquires", false, []event{at(1, 2, refuse, 40, a), at(3, 4, admit, 60, dev, a)}},
		{"refused while bytes come back, with room before", false, []event{at(1, 2, admit, 60, dev, a), at(3, 6, refuse, 40, a), at(4, 5, giveBack, 60, dev, a)}},
		{"refused while bytes come back, without", true, []event{at(1, 2, admit, 60, dev, a), at(3, 6, refuse, 60, a), at(4, 5, giveBack, 60, dev, a)}},
		{"given back twice", false, []event{at(1, 2, admit, 60, dev, a), at(3, 4, giveBack, 60, dev, a), at(5, 6, giveBack, 60, dev, a)}},
		{"read right", true, []event{at(1, 2, admit, 60, dev, a), at(3, 4, look, 60, dev)}},
		{"read wrong", false, []event{at(1, 2, admit, 60, dev, a), at(3, 4, look, 0, dev)}},
		{"read wrong while another acquires", true, []event{at(1, 4, admit, 60, dev, a), at(2, 3, look, 13, dev)}},
		{"beyond a window that fell", false, []event{at(1, 2, resize, 50, a), at(3, 4, admit, 30, dev, a), at(5, 6, admit, 30, dev, a)}},
		{"beyond a window that falls", true, []event{at(1, 2, admit, 30, dev, a), at(3, 6, resize, 50, a), at(4, 5, admit, 30, dev, a)}},
		{"beside what a window that fell is less than", true, []event{at(1, 2, admit, 60, dev, a), at(3, 4, resize, 50, a), at(5, 6, refuse, 1, a)}},
		{"outdated without a renewal", false, []event{at(1, 2, outdated, 0, a)}},
		{"outdated while another renews", true, []event{at(1, 4, renew, 0, a), at(2, 3, outdated, 0, a)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			written := book{pages: [][]event{tt.h}}
			want := porcupine.Illegal
			if tt.legal {
				want = porcupine.Ok
			}
			result, _ := check(sc, written.events(0))
			assert.Equal(t, want, result)
		})
	}

	claimed := *sc
	claimed.moving = true
	written := book{pages: [][]event{{at(1, 2, admit, 60, dev, a), at(3, 4, refuse, 400, a), at(5, 6, refuse, 10, a)}}}
	for _, c := range []struct {
		sc   *scenario
		want porcupine.CheckResult
	}{{sc, porcupine.Illegal}, {&claimed, porcupine.Ok}} {
		result, _ := check(c.sc, written.events(0))
		assert.Equal(t, c.want, result, "refused by a route with room after a larger one, with claims: %t", c.sc.moving)
	}
}
