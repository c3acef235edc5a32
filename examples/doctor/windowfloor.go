package main

import (
	"fmt"

	"github.com/rdmagate/rdmagate/cc"
)

// checkWindowFloor compares what all senders of a receiver may have under way at the
// least with the buffer in front of it.
func checkWindowFloor(h *host) []Finding {
	if h.usage.fanIn < 0 {
		return nil
	}
	advice := h.config.Advice(cc.Surroundings{FanIn: h.usage.fanIn, BufferBytes: h.usage.bufferBytes})
	if len(advice) > 0 {
		return []Finding{advised(advice[0], "Windows do not fall below the least one. At worst all senders meet at one receiver, and what does not fit into the buffer is paused or lost.")}
	}
	return []Finding{ok("", fmt.Sprintf("%s of %s fit into %s", count(h.usage.fanIn, "window"), bytesText(h.config.MinWindowBytes), bytesText(h.usage.bufferBytes)))}
}
