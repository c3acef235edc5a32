package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// checkMemlock compares the limit of locked memory with what the engine registers. The
// pages of a memory region are pinned and count against it, for the whole process,
// unless the process has CAP_IPC_LOCK.
func checkMemlock(h *host) []Finding {
	limit, known := memlockLimit(read(h.root, "proc/self/limits"))
	want := h.usage.registerBytes
	switch {
	case !known:
		return nil
	case limit == math.MaxInt64:
		return []Finding{ok("", "the limit of locked memory is off")}
	case limit >= want:
		return []Finding{ok("", fmt.Sprintf("%s may be locked, %s are to be registered", bytesText(limit), bytesText(want)))}
	case mayLock(h):
		return []Finding{ok("", fmt.Sprintf("CAP_IPC_LOCK lifts the limit of %s", bytesText(limit)))}
	}
	return []Finding{{
		Level: Fault, Seen: fmt.Sprintf("%s may be locked by this process, %s are to be registered (-register).", bytesText(limit), bytesText(want)),
		Why: "Registered memory is pinned and counts against RLIMIT_MEMLOCK. Above it ibv_reg_mr fails with ENOMEM, also for the queues of the engine.",
		Fix: "`ulimit -l unlimited`; for a service `LimitMEMLOCK=infinity` in its unit; for a container `docker run --ulimit memlock=-1` or `--cap-add=IPC_LOCK`.",
	}}
}

// memlockLimit finds the soft limit in the text of /proc/self/limits.
func memlockLimit(text string) (limit int64, known bool) {
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(line, "Max locked memory")
		if !found {
			continue
		}
		f := strings.Fields(rest)
		if len(f) == 0 {
			return 0, false
		}
		if f[0] == "unlimited" {
			return math.MaxInt64, true
		}
		n, err := strconv.ParseInt(f[0], 10, 64)
		return n, err == nil
	}
	return 0, false
}

// mayLock reports whether the process has CAP_IPC_LOCK and the kernel heeds it: that of
// a user namespace does not count.
func mayLock(h *host) bool {
	const ipcLock = 14
	for line := range strings.Lines(read(h.root, "proc/self/status")) {
		if set, found := strings.CutPrefix(line, "CapEff:"); found {
			caps, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
			return err == nil && caps>>ipcLock&1 == 1 && initialNamespace(read(h.root, "proc/self/uid_map"))
		}
	}
	return false
}

// initialNamespace reports whether a user map is that of the first user namespace, in
// which every user is itself.
func initialNamespace(uidMap string) bool {
	f := strings.Fields(uidMap)
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == strconv.FormatUint(math.MaxUint32, 10)
}
