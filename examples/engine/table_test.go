package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/rail"
)

func sample(local, remote string) transfer.RailSample {
	return transfer.RailSample{
		Route: cc.RouteSnapshot{
			Pair:       rail.Pair{Peer: "b", Local: local, Port: 1, Remote: remote},
			Generation: 12345, WindowBytes: 64 << 20, InFlightBytes: 1000 << 10,
		},
		Up: true, Rate: 999.9e6, Drain: 1234567 * time.Microsecond,
	}
}

func TestTableFits80Columns(t *testing.T) {
	var out bytes.Buffer
	table := table{out: &out}
	table.show("headline", []transfer.RailSample{sample("mlx5_10", "mlx5_bond_0"), sample("rocep3s0f0", "rocep3s0f1")})
	lines := strings.Split(out.String(), "\n")
	assert.Len(t, lines, 6, "headline, column names, two routes and an empty line")
	for _, line := range lines {
		assert.LessOrEqual(t, len(line), 80, "line %q", line)
	}
}

func TestTableRedrawsOnATerminal(t *testing.T) {
	var out bytes.Buffer
	table := table{out: &out, live: true}
	rails := []transfer.RailSample{sample("mlx5_0", "mlx5_1")}
	table.show("first", rails)
	assert.NotContains(t, out.String(), "\x1b", "there is nothing to erase at first")
	out.Reset()
	table.show("second", rails)
	assert.True(t, strings.HasPrefix(out.String(), "\x1b[3A\x1b[J"), "the three lines of the block must be erased: %q", out.String())
	out.Reset()
	table.note("news")
	assert.Equal(t, "\x1b[3A\x1b[Jnews\n", out.String(), "news go above the table")
	out.Reset()
	table.show("third", rails)
	assert.NotContains(t, out.String(), "\x1b", "news must not be erased")
}

func TestStateText(t *testing.T) {
	up := sample("a", "b")
	for _, tc := range []struct {
		name   string
		change func(*transfer.RailSample)
		want   string
	}{
		{"in use", func(*transfer.RailSample) {}, "HEALTHY"},
		{"asked first", func(s *transfer.RailSample) { s.First = true }, "HEALTHY, first"},
		{"asked first, and congested", func(s *transfer.RailSample) { s.First, s.Route.Health.State = true, cc.Congested }, "CONGESTED, first"},
		{"congested", func(s *transfer.RailSample) { s.Route.Health.State = cc.Congested }, "CONGESTED"},
		{"suspect, and being built", func(s *transfer.RailSample) { s.Route.Health.State, s.Up = cc.Suspect, false }, "SUSPECT"},
		{"quarantined", func(s *transfer.RailSample) {
			s.Route.Health = cc.HealthSnapshot{State: cc.Quarantined, CooldownLeft: 299600 * time.Millisecond}
		}, "QUARANTINED 300s"},
		{"quarantined, the cooldown is over", func(s *transfer.RailSample) { s.Route.Health.State = cc.Quarantined }, "QUARANTINED"},
		{"a deadline retired it", func(s *transfer.RailSample) { s.Route.NeedsRenew = true }, "needs renew"},
		{"being built", func(s *transfer.RailSample) { s.Up = false }, "no endpoint"},
		{"mode off", func(s *transfer.RailSample) { s.Route.Generation = 0 }, "not tracked"},
	} {
		s := up
		tc.change(&s)
		assert.Equal(t, tc.want, stateText(s), tc.name)
		assert.LessOrEqual(t, len(stateText(s)), 16, "the width of the column: %s", tc.name)
	}
}

func TestResultsFindSlowTransfers(t *testing.T) {
	var r results
	usual := transfer.Report{Bytes: 1000, Took: time.Second, Checked: 1000}
	for range slowAfter {
		assert.Empty(t, r.add(usual), "there is nothing to compare with yet")
	}
	assert.Empty(t, r.add(transfer.Report{Bytes: 1000, Took: 1900 * time.Millisecond}))
	assert.Empty(t, r.add(transfer.Report{Bytes: 4000, Took: 4 * time.Second}), "time counts per byte")
	assert.Equal(t, "slow", r.add(transfer.Report{Bytes: 1000, Took: 3 * time.Second}))
	assert.Equal(t, "failed", r.add(transfer.Report{Bytes: 1000, Err: errors.New("broken")}))
	assert.EqualValues(t, 1000*slowAfter, r.checked.Load())
}

func TestIndentWraps(t *testing.T) {
	text := indent(strings.Repeat("word ", 40) + strings.Repeat("x", 100))
	lines := strings.Split(text, "\n")
	assert.Greater(t, len(lines), 2)
	for _, line := range lines {
		assert.True(t, strings.HasPrefix(line, "    "), "line %q", line)
		assert.True(t, len(line) <= 78 || strings.HasSuffix(line, "x"), "line %q", line)
	}
}
