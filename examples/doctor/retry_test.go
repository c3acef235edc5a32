package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRetry(t *testing.T) {
	qp := func(timeout, retry int) func(*host) {
		return func(h *host) { h.usage.timeout, h.usage.retry = timeout, retry }
	}
	buffer := func(bytes int64, timeout int) func(*host) {
		return func(h *host) {
			qp(timeout, 7)(h)
			h.usage.bufferBytes = bytes
		}
	}
	const probe = "NOTE: and the probe interval is 1s"
	runExamples(t, checkRetry, []example{
		{name: "not told"},
		{name: "usual", with: qp(14, 7), ok: "a dead path is reported after 537ms to 2.15s"},
		{name: "short", with: qp(8, 3), ok: "after 4.19ms to 16.8ms"},
		{name: "no timeout", with: qp(0, 7), want: []string{"FAULT: The timeout code is 0"}},
		{name: "no retry", with: qp(14, 0), want: []string{"WARNING: retry_cnt is 0"}},
		{name: "one retry", with: qp(14, 1), ok: "after 134ms to 537ms"},
		{name: "longer than the probe interval", with: qp(15, 7), want: []string{probe}},
		{
			name: "perhaps longer than the error window", with: qp(17, 7),
			want: []string{"NOTE: The hardware retries for 4.29s, and may take up to 17.2s; the error window is 10s", probe},
		},
		{
			name: "longer than the error window", with: qp(19, 7),
			want: []string{"WARNING: ErrorWindow is 10s and the hardware retries for 17.179869184s", probe},
		},
		{
			name: "within longer windows",
			with: func(h *host) {
				qp(19, 7)(h)
				h.config.ErrorWindow, h.config.ProbeInterval = 70*time.Second, 18*time.Second
			},
			ok: "after 17.2s to 1m8.7s",
		},
		{
			name: "just within the windows",
			with: func(h *host) { qp(19, 7)(h); h.config.ErrorWindow, h.config.ProbeInterval = 4*17179869184, 17179869184 },
			ok:   "after 17.2s",
		},
		{
			name: "just not within the windows",
			with: func(h *host) {
				qp(19, 7)(h)
				h.config.ErrorWindow, h.config.ProbeInterval = 4*17179869184-1, 17179869184-1
			},
			want: []string{"NOTE: The hardware retries for 17.2s, and may take up to 1m8.7s", "NOTE: and the probe interval is 17.2s"},
		},
		{name: "a buffer that drains before", with: buffer(25<<20, 8), ok: "after 8.39ms"},
		{
			name: "a buffer that drains after", with: buffer(25<<20+100, 8),
			want: []string{"WARNING: A try times out after 1.05ms; a full buffer of 25 MiB in front of mlx5_0 port 1, at 200 Gb/s, takes 1.05ms."},
		},
		{
			name: "a buffer that drains after at the slower port", with: buffer(14<<20, 8),
			edit: func(t tree) { t.set(portFile("mlx5_1", "rate"), "100 Gb/sec (4X EDR)") },
			want: []string{"WARNING: in front of mlx5_1 port 1, at 100 Gb/s, takes 1.17ms."},
		},
		{
			name: "a buffer at no known speed", with: buffer(27<<20, 8), ok: "after",
			edit: func(t tree) { t.drop(portFile("mlx5_0", "rate")); t.drop(portFile("mlx5_1", "rate")) },
		},
		{
			name: "a buffer at ports that are down", with: buffer(27<<20, 8), ok: "after",
			edit: down("3: Disabled", "mlx5_0", "mlx5_1"),
		},
		{name: "RNR for ever", with: func(h *host) { h.usage.rnr = 7 }, want: []string{"WARNING: rnr_retry is 7, which waits for ever"}},
		{name: "RNR", with: func(h *host) { h.usage.rnr = 6 }, ok: "reported, after 6 retries"},
		{name: "RNR at once", with: func(h *host) { h.usage.rnr = 0 }, ok: "reported, after 0 retries"},
		{name: "both", with: func(h *host) { qp(14, 7)(h); h.usage.rnr = 7 }, want: []string{"WARNING: rnr_retry is 7"}, ok: "a dead path"},
	})
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 1234: "1.23µs", 67108864: "67.1ms", 536870912: "537ms", 17179869184: "17.2s", 2199023255552: "36m40s",
	} {
		assert.Equal(t, want, short(d), "%d", int64(d))
	}
}

func TestCodeFor(t *testing.T) {
	for code := 1; code < 31; code++ {
		try := timeoutUnit << code
		assert.Equal(t, code, codeFor(try))
		assert.Equal(t, code+1, codeFor(try+1))
	}
}

// The remedy comes from the controller's advice.
func TestAdvised(t *testing.T) {
	h := loadTree(t, "mlx5").host()
	h.usage.rnr = 7
	assert.Equal(t, "Use less.", fix(t, h, checkRetry))
}
