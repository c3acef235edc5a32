package screen

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/examples/top/internal/looks"
	"github.com/rdmagate/rdmagate/examples/top/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden frames anew")

func state(h *live.Handler) live.State { return h.State(100, 100) }

func states(then, later *live.Handler) (live.State, live.State) { return state(then), state(later) }

// Frames are those that somebody has looked at.
func TestFrames(t *testing.T) {
	then, current := states(looks.Mixed())
	manyThen, manyNow := states(looks.Many())
	strange, empty := state(looks.Hostile()), state(looks.Empty())
	unicode := Style{Unicode: true}
	tests := []struct {
		name  string
		then  *live.State
		now   live.State
		size  Size
		style Style
	}{
		{"80x24", &then, current, Size{80, 24}, unicode},
		{"80x24-ascii", &then, current, Size{80, 24}, Style{}},
		{"80x24-colour", &then, current, Size{80, 24}, Style{Colour: true, Unicode: true}},
		{"120x40", &then, current, Size{120, 40}, unicode},
		{"200x50", &then, current, Size{200, 50}, unicode},
		{"narrow", &then, current, Size{44, 20}, unicode},
		{"low", &then, current, Size{80, 10}, unicode},
		{"first-look", nil, current, Size{80, 24}, unicode},
		{"many-routes", &manyThen, manyNow, Size{80, 24}, unicode},
		{"names", nil, strange, Size{80, 24}, unicode},
		{"names-ascii", nil, strange, Size{120, 24}, Style{}},
		{"empty", nil, empty, Size{80, 24}, unicode},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(Frame(tt.then, tt.now, "127.0.0.1:7474", tt.size, tt.style), "\n") + "\n"
			file := filepath.Join("testdata", tt.name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), got, "run the tests with -update if the new frame is right")
		})
	}
}

// Whatever the size is, a frame fits, and without colours nothing in it moves a cursor.
func TestFramesFit(t *testing.T) {
	then, current := states(looks.Mixed())
	manyThen, manyNow := states(looks.Many())
	strange := state(looks.Hostile())
	for _, look := range []struct {
		then *live.State
		now  live.State
	}{{&then, current}, {&manyThen, manyNow}, {nil, strange}, {nil, live.State{}}} {
		for _, style := range []Style{{}, {Unicode: true}} {
			for columns := 0; columns < 140; columns += 1 + columns/5 {
				for rows := 0; rows < 45; rows += 1 + rows/4 {
					lines := Frame(look.then, look.now, "a title\x1b]0;x\x07", Size{columns, rows}, style)
					require.LessOrEqual(t, len(lines), rows, "lines of a frame of %d by %d", columns, rows)
					for _, l := range lines {
						require.LessOrEqual(t, width(l), columns, "cells of %q, at %d by %d", l, columns, rows)
						require.Equal(t, clean(l, style), l, "nothing but text, at %d by %d", columns, rows)
					}
				}
			}
		}
	}
}

// Colours add nothing but colours.
func TestColoursAddNoText(t *testing.T) {
	then, current := states(looks.Mixed())
	size := Size{100, 30}
	plainLines := Frame(&then, current, "", size, Style{Unicode: true})
	coloured := Frame(&then, current, "", size, Style{Unicode: true, Colour: true})
	require.Len(t, coloured, len(plainLines))
	some := false
	for i, l := range coloured {
		some = some || strings.Contains(l, "\x1b[")
		for _, code := range codes {
			l = strings.ReplaceAll(l, "\x1b["+code+"m", "")
		}
		assert.Equal(t, plainLines[i], strings.ReplaceAll(l, "\x1b[0m", ""))
	}
	assert.True(t, some, "colours at all")
}

// A route that is another one by now has no rate yet, and time that stands still gives none.
func TestRatesOfWhatIsNew(t *testing.T) {
	then, current := states(looks.Mixed())
	r := newRates(&then, current)
	last := current.Routes[len(current.Routes)-2]
	assert.NotEqual(t, "-", r.route(last))
	last.Flow.DeliveredBytes = -1
	assert.Equal(t, "-", r.route(last))
	last.Pair.Remote = "another"
	assert.Equal(t, "-", r.route(last))
	assert.Zero(t, newRates(&current, current).seconds)
}

func TestTexts(t *testing.T) {
	const kib, mib = int64(1) << 10, int64(1) << 20
	for want, got := range map[string]string{
		"0/64 KiB": partText(0, 64*kib), "12/64 MiB": partText(12*mib, 64*mib), "0.1/1.5 GiB": partText(100*mib, 1536*mib), "3/7 B": partText(3, 7),
		"0 B/s": rateText(0), "999 B/s": rateText(999), "1 kB/s": rateText(999.9), "31.4 MB/s": "31.4 MB/s", "3.1 GB/s": rateText(3.14e9),
		"412 us": timeText(412 * time.Microsecond), "1 ms": timeText(999 * time.Microsecond), "72 ms": timeText(72 * time.Millisecond),
		"1 s": timeText(999 * time.Millisecond), "119 s": timeText(119 * time.Second), "4 min": timeText(4 * time.Minute), "3 h": timeText(3 * time.Hour),
		"0.4 s": secondsText(400 * time.Millisecond), "1,234,567": countText(1234567), "123": countText(123), "1 route": several(1, "route", "routes"),
		"ab~yz": left("abcdefxyz", 5, "~"), "ab   ": left("ab", 5, "~"), "   ab": right("ab", 5), "世~ ": left("世界世界", 4, "~"),
	} {
		assert.Equal(t, want, got)
	}
}
