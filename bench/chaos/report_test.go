package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/chaos"
)

func results() []chaos.Result {
	one := chaos.Result{
		Schedule: small(), Took: chaos.Duration(3 * time.Second), Faulty: chaos.Duration(time.Second),
		Seen:     []chaos.Seen{{Kind: chaos.Block, Count: 1, Failed: 5, Suspect: 2, Quarantined: 1}},
		Done:     chaos.Done{Puts: 10, Gets: 9, Bytes: 19e6, Retries: 4, Failed: map[string]int{"cancelled": 2}, Tasks: map[string]int{"UNKNOWN": 2}, Lies: 1},
		Requests: 100, Torn: 3, Status: map[string]int{"work request flushed": 7}, Probes: 20, Good: 8,
		Slowest: chaos.Duration(2 * time.Second), Bound: chaos.Duration(5 * time.Second),
		States: []chaos.States{{Count: [5]int{3, 1}}, {At: chaos.Duration(time.Second), Count: [5]int{1, 0, 1, 1, 1}}},
		First:  chaos.Footprint{Goroutines: 30, HeapBytes: 1e6}, Last: chaos.Footprint{Goroutines: 31, HeapBytes: 2e6},
	}
	two := one
	two.Schedule.Seed, two.Slowest = 2, chaos.Duration(4*time.Second)
	two.Broken = []chaos.Broken{{Invariant: chaos.Flight, At: chaos.Duration(time.Second), Text: "4096 bytes are in flight"}}
	return []chaos.Result{one, two}
}

func TestReport(t *testing.T) {
	// Results come from other processes as JSON.
	text, err := json.Marshal(results())
	require.NoError(t, err)
	var list []chaos.Result
	require.NoError(t, json.Unmarshal(text, &list))
	require.Equal(t, results(), list)

	folder := t.TempDir()
	rep := report{machine: machine.This(), fabric: "guest", results: list}
	require.NoError(t, rep.write(folder))
	got, err := os.ReadFile(filepath.Join(folder, "report.md"))
	require.NoError(t, err)
	for _, want := range []string{
		"| block | drops what one NIC sends to another | 2 | 10 | 4 | 2 |",
		"| device-fatal | a device reports DEVICE_FATAL | not on this fabric: rdma_rxe reports none | | | |",
		"| rounds, their time, with faults | 2, 6s, 2s |",
		"| transfers that succeeded | 20 WRITE, 18 READ, 38.0 MB, all compared |",
		"| transfers that failed, by reason | 4 cancelled |",
		"| work requests posted; failed, by status; ended with their QP | 200; 14 work request flushed; 6 |",
		"| slowest recovery of a route; bound | 4s; 5s |",
		"| first | 30 |", "| last | 31 |",
		"Seed 2 broke", "flight: 4096 bytes are in flight", "1 of 2 rounds broke an invariant.",
	} {
		assert.Contains(t, string(got), want)
	}
	assert.FileExists(t, filepath.Join(folder, "states.png"))
	assert.ErrorContains(t, rep.broken(), "seed 2:")
	require.NoError(t, report{results: list[:1]}.broken())
}

func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-fabric", "real"}, {"-seeds", "-1"}, {"-run", "-1s"}, {"extra"}} {
		_, err := parse(args, &bytes.Buffer{})
		assert.Error(t, err, "%v", args)
	}
	o, err := parse([]string{"-seed", "7"}, &bytes.Buffer{})
	require.NoError(t, err)
	plans, err := o.plans()
	require.NoError(t, err)
	require.Len(t, plans, 200)
	assert.Equal(t, uint64(7), plans[0].Seed)

	file := filepath.Join(t.TempDir(), "schedule.json")
	guest := chaos.Generate(5, chaos.GuestPace())
	require.NoError(t, guest.Save(file))
	o, err = parse([]string{"-schedule", file}, &bytes.Buffer{})
	require.NoError(t, err)
	plans, err = o.plans()
	require.NoError(t, err)
	assert.Equal(t, []chaos.Schedule{guest}, plans)
	assert.Equal(t, "guest", o.fabric, "a schedule says which fabric it is for")
}
