package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/chaos"
)

// crashVariable makes the test program, started as a bubble, crash.
const crashVariable = "CHAOS_TEST_CRASH"

// The test program is what bubbles start.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == bubbleFlag {
		if os.Getenv(crashVariable) != "" {
			panic("a crash for the test")
		}
		simulate(os.Stdin, os.Stdout)
	}
	os.Exit(m.Run())
}

// small is a schedule that takes next to no time.
func small() chaos.Schedule {
	return chaos.Schedule{
		Seed: 1, Fabric: "sim", Length: chaos.Duration(100 * time.Millisecond),
		Setup:  chaos.Setup{NICs: 2, Peers: 1, Workers: 1, Law: "epoch", Streams: 1, MaxBytes: 8 << 10, Think: chaos.Duration(time.Millisecond)},
		Faults: []chaos.Fault{{Kind: chaos.Block, Local: 1, At: chaos.Duration(10 * time.Millisecond), For: chaos.Duration(50 * time.Millisecond)}},
	}
}

// A bubble runs one schedule after the other.
func TestBubble(t *testing.T) {
	b := &bubble{ctx: t.Context()}
	defer b.close()
	for range 3 {
		r, err := b.run(small())
		require.NoError(t, err)
		assert.Empty(t, r.Broken)
		assert.Equal(t, small(), r.Schedule)
		assert.NotZero(t, r.Done.Puts)
	}
	bad := small()
	bad.Setup.Law = "none"
	_, err := b.run(bad)
	require.ErrorContains(t, err, `law "none"`)
	_, err = b.run(small())
	require.NoError(t, err, "a schedule that cannot be run takes none of the others along")
}

// A crash is a broken invariant, and says where it was.
func TestCrash(t *testing.T) {
	t.Setenv(crashVariable, "yes")
	b := &bubble{ctx: t.Context()}
	defer b.close()
	r, err := b.run(small())
	require.NoError(t, err)
	require.Len(t, r.Broken, 1)
	assert.Equal(t, chaos.Crash, r.Broken[0].Invariant)
	assert.Contains(t, r.Broken[0].Text, "a crash for the test")
	require.NoError(t, os.Unsetenv(crashVariable))
	r, err = b.run(small())
	require.NoError(t, err)
	assert.Empty(t, r.Broken, "the next schedule has a new process")
}

// What is interrupted is no broken invariant.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := &bubble{ctx: ctx}
	defer b.close()
	_, err := b.run(small())
	require.NoError(t, err)
	cancel()
	_, err = b.run(small())
	require.ErrorIs(t, err, context.Canceled)
}
