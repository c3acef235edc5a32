package chaos

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Footprint is what the program has at a moment.
type Footprint struct {
	Goroutines int
	// Threads and Descriptors are 0 where the system does not tell.
	Threads, Descriptors int
	HeapBytes            int64
	// Resident is the memory of the process, with what libraries took, in bytes.
	Resident int64
	// QPs, CQs, Regions and FabricBytes are open on all hosts.
	QPs, CQs, Regions, FabricBytes int64
}

// footprint measures. It collects garbage.
func (w *Watch) footprint() Footprint {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f := Footprint{
		Goroutines: runtime.NumGoroutine(), HeapBytes: int64(m.HeapAlloc),
		QPs: w.objects.qps.Load(), CQs: w.objects.cqs.Load(), Regions: w.objects.regions.Load(), FabricBytes: w.objects.bytes.Load(),
	}
	f.Threads, f.Descriptors = entries("/proc/self/task"), entries("/proc/self/fd")
	f.Resident = resident()
	return f
}

func entries(folder string) int {
	list, err := os.ReadDir(folder)
	if err != nil {
		return 0
	}
	return len(list)
}

func resident() (bytes int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}

// stacks counts goroutines by the function that began them.
type stacks map[string]int

func creators() stacks {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	count := stacks{}
	for line := range strings.Lines(string(text)) {
		if by, ok := strings.CutPrefix(line, "created by "); ok {
			by, _, _ = strings.Cut(by, " in goroutine")
			count[strings.TrimSpace(by)]++
		}
	}
	return count
}

// more lists those that are more than before.
func (s stacks) more(before stacks) (text string) {
	for _, by := range slices.Sorted(maps.Keys(s)) {
		if s[by] > before[by] {
			text += fmt.Sprintf(" %s: %d, %d before;", by, s[by], before[by])
		}
	}
	return text
}

// least and most are those of each number.
func (f Footprint) least(o Footprint) Footprint {
	return f.each(o, func(a, b int64) int64 { return min(a, b) })
}
func (f Footprint) most(o Footprint) Footprint {
	return f.each(o, func(a, b int64) int64 { return max(a, b) })
}

func (f Footprint) each(o Footprint, pick func(a, b int64) int64) Footprint {
	return Footprint{
		Goroutines: int(pick(int64(f.Goroutines), int64(o.Goroutines))), Threads: int(pick(int64(f.Threads), int64(o.Threads))),
		Descriptors: int(pick(int64(f.Descriptors), int64(o.Descriptors))), HeapBytes: pick(f.HeapBytes, o.HeapBytes),
		Resident: pick(f.Resident, o.Resident), QPs: pick(f.QPs, o.QPs), CQs: pick(f.CQs, o.CQs), Regions: pick(f.Regions, o.Regions),
		FabricBytes: pick(f.FabricBytes, o.FabricBytes),
	}
}

// What may be more at a later quiet moment: threads are made for calls that block, and
// kept by the runtime; the heap has caches, and grows to its high-water mark.
const (
	moreThreads = 16
	moreHeap    = 8 << 20
	morePart    = 4 // and a fourth of what it was
)

// growth says what is more than at an earlier quiet moment; empty if nothing is. most is
// the most that was seen then, f the least that is seen now.
func (f Footprint) growth(most Footprint) string {
	var list []string
	more := func(what string, now, then, allowed int64) {
		if now > then+allowed {
			list = append(list, fmt.Sprintf("%d %s, %d before", now, what, then))
		}
	}
	more("goroutines", int64(f.Goroutines), int64(most.Goroutines), 0)
	more("threads", int64(f.Threads), int64(most.Threads), moreThreads)
	more("descriptors", int64(f.Descriptors), int64(most.Descriptors), 0)
	more("bytes of heap", f.HeapBytes, most.HeapBytes, moreHeap+most.HeapBytes/morePart)
	more("resident bytes", f.Resident, most.Resident, 4*moreHeap+most.Resident/morePart)
	more("QPs", f.QPs, most.QPs, 0)
	more("CQs", f.CQs, most.CQs, 0)
	more("regions", f.Regions, most.Regions, 0)
	more("bytes of fabric memory", f.FabricBytes, most.FabricBytes, 0)
	return strings.Join(list, "; ")
}
