package main

import "testing"

func TestWindowFloor(t *testing.T) {
	of := func(window, buffer int64, senders int) func(*host) {
		return func(h *host) { h.config.MinWindowBytes, h.usage.bufferBytes, h.usage.fanIn = window, buffer, senders }
	}
	runExamples(t, checkWindowFloor, []example{
		{name: "not told"},
		{name: "fits", with: of(65536, 64<<16, 64), ok: "64 windows of 64 KiB fit into 4 MiB"},
		{name: "a byte too large", with: of(65537, 64<<16, 64), want: []string{"WARNING: MinWindowBytes is 65537, and 64 senders that keep to it overrun a buffer of 4194304 bytes"}},
		{name: "one sender too many", with: of(65536, 64<<16, 65), want: []string{"WARNING: 65 senders"}},
	})
}
