package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/top/live"
)

// The program serves metrics, variables and the page of one engine at work.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"-listen", "127.0.0.1:0", "-routes", "all"}, in, io.Discard) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	root := strings.Fields(line)[2]
	get := func(path string) string {
		t.Helper()
		resp, err := http.Get(root + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode, "%s", text)
		return string(text)
	}
	require.Eventually(t, func() bool { // the story's first fault
		return strings.Contains(get("metrics"), `rdmagate_transitions_total{device="sima0",reason=`)
	}, time.Minute, 100*time.Millisecond)
	text := get("metrics")
	for _, want := range []string{
		`rdmagate_controller_info{mode="enforce"} 1`, `rdmagate_device_delivered_bytes_total{device="sima0"} `,
		`rdmagate_route_state{device="sima0",incarnation="`, `rdmagate_admissions_total `, `rdmagate_pauses{phase="cooldown"} `, `rdmagate_routes_left_out 0`,
	} {
		assert.Contains(t, text, want)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	assert.Empty(t, problems)

	var vars struct{ Rdmagate cc.Snapshot }
	require.NoError(t, json.Unmarshal([]byte(get("debug/vars")), &vars))
	assert.Len(t, vars.Rdmagate.Routes, 15)
	var state live.State
	require.NoError(t, json.Unmarshal([]byte(get("state.json")), &state))
	assert.NotEmpty(t, state.Transitions)
	assert.Contains(t, get(""), "<title>rdmagate</title>")

	stop()
	require.NoError(t, <-done)
}

func TestWrongCalls(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-routes some", `-routes "some": give none, a number of at least 1, or all`},
		{"-routes 0", "at least 1"},
		{"-listen nowhere", "missing port"},
	} {
		assert.ErrorContains(t, run(context.Background(), strings.Fields(tt.args), io.Discard, io.Discard), tt.want)
	}
	pick, err := parseRoutes("none")
	assert.NoError(t, err)
	assert.Nil(t, pick)
}
