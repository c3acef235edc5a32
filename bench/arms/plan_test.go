package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	lab "github.com/rdmagate/rdmagate/internal/labcongestion"
	"github.com/rdmagate/rdmagate/internal/twohost"
)

// Each arm has each turn, and each other round is the one before in reverse.
func TestOrder(t *testing.T) {
	const n, rounds = 5, 400
	var turns [n][n]int
	for round := range rounds {
		o := order(1, "a step", round, n)
		for turn, arm := range o {
			turns[arm][turn]++
		}
		if round%2 == 1 {
			slices.Reverse(o)
			assert.Equal(t, order(1, "a step", round-1, n), o)
		}
	}
	for arm := range turns {
		for turn, times := range turns[arm] {
			assert.InDelta(t, rounds/n, times, rounds/n/2, "arm %d has turn %d", arm, turn)
		}
	}
	assert.NotEqual(t, schedule(1, "a step"), schedule(2, "a step"), "the seed decides")
	assert.NotEqual(t, schedule(1, "a step"), schedule(1, "another"), "so does the step")
}

func schedule(seed uint64, step string) (all [][]int) {
	for round := range 10 {
		all = append(all, order(seed, step, round, 5))
	}
	return all
}

func TestSteps(t *testing.T) {
	names := map[string]bool{}
	for _, s := range steps() {
		assert.False(t, names[s.Name], "two steps are named %q", s.Name)
		names[s.Name] = true
		assert.Equal(t, base, s.Arms[0].Name, "ratios are to the first arm of %s", s.Name)
		assert.GreaterOrEqual(t, s.Least, 1)
		var figures []string
		for _, f := range s.kind().Figures() {
			figures = append(figures, f.Name)
		}
		for _, g := range s.Goals {
			assert.Contains(t, figures, g.Figure, "goal of %s", s.Name)
			for _, name := range []string{g.Arm, g.Versus} {
				assert.True(t, slices.ContainsFunc(s.Arms, func(a arm) bool { return a.Name == name }), "%s has no arm %q", s.Name, name)
			}
		}
		for _, setting := range []string{"law round", "(least, start, most)", "target drain"} {
			assert.Contains(t, s.kind().Setup(), setting, "settings of %s", s.Name)
		}
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var read step
		require.NoError(t, json.Unmarshal(text, &read))
		assert.Equal(t, s, read, "workers are told by JSON")
	}
	for _, queue := range lab.IncastQueues {
		assert.NotZero(t, leastGoodput[queue], "a goal for the queue of %d", queue)
	}
	assert.Len(t, management(), 2*(twohost.NICs-1))
}

// Whatever a controller is told is valid.
func TestSettingsAreValid(t *testing.T) {
	for _, s := range steps() {
		var w twohost.Windows
		switch {
		case s.Incast != nil:
			assert.NoError(t, s.Incast.setup(cc.Enforce, 1).Control.Validate(), s.Name)
			continue
		case s.Bulk != nil:
			w = s.Bulk.numbers(cc.Enforce, 1).Windows
			assert.Zero(t, s.Bulk.Bytes%s.Bulk.Slice, "whole slices in a transfer of %s", s.Name)
		default:
			w = s.Outage.numbers(cc.Enforce, 1).Windows
		}
		assert.LessOrEqual(t, w.MinBytes, w.StartBytes, s.Name)
		assert.LessOrEqual(t, w.StartBytes, w.MaxBytes, s.Name)
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-only", "("}, "not a regular expression"},
		{[]string{"-only", "nothing"}, "matches no step"},
		{[]string{"-time", "-1s"}, "-time is not negative"},
		{[]string{"x"}, "flags come as"},
	} {
		assert.ErrorContains(t, command(context.Background(), c.args, io.Discard, io.Discard), c.want)
	}
	var out bytes.Buffer
	require.NoError(t, command(context.Background(), []string{"-list", "-only", "^incast"}, &out, io.Discard))
	assert.Equal(t, 4, strings.Count(out.String(), "\n"), out.String())

	o, err := parse([]string{"-short"}, io.Discard)
	require.NoError(t, err)
	todo, err := o.chosen()
	require.NoError(t, err)
	assert.Len(t, todo, 6, "one step of each kind, and both queues")
	full, err := parse(nil, io.Discard)
	require.NoError(t, err)
	assert.Less(t, o.length, full.length)
}

// This program was not built with the tag, and says so.
func TestCompiledOut(t *testing.T) {
	c := cc.DefaultConfig()
	c.Mode = cc.Enforce
	ctl, err := cc.New(c)
	require.NoError(t, err)
	defer ctl.Close()
	assert.Equal(t, ctl.Mode() == cc.Off, compiledOut())
}
