package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/chaos"
)

// report is what came out of all rounds.
type report struct {
	machine machine.Machine
	fabric  string
	results []chaos.Result
}

// broken joins what was broken, the first of each round.
func (rep report) broken() error {
	var list []error
	for _, r := range rep.results {
		if r.Failed() {
			list = append(list, fmt.Errorf("seed %d: %v", r.Schedule.Seed, r.Broken[0]))
		}
	}
	return errors.Join(list...)
}

// write puts the report and its plot into a folder.
func (rep report) write(folder string) error {
	text := "# Chaos\n\n" + rep.machine.String() + "\n\n" + rep.text() + "\n![states](states.png)\n"
	if err := os.WriteFile(filepath.Join(folder, "report.md"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return rep.plot(filepath.Join(folder, "states.png"))
}

// absent says why a fabric does not make a kind of fault.
var absent = map[string]map[chaos.Kind]string{
	"sim":   {chaos.Loss: "the simulated fabric loses no single packets; block stands for 100%"},
	"guest": {chaos.DeviceFatal: "rdma_rxe reports none"},
}

// text returns the report as Markdown.
func (rep report) text() string {
	var b strings.Builder
	rep.kinds(&b)
	rep.totals(&b)
	rep.flat(&b)
	failed := 0
	for _, r := range rep.results {
		if !r.Failed() {
			continue
		}
		failed++
		fmt.Fprintf(&b, "Seed %d broke, with\n\n```\n%v```\n\n", r.Schedule.Seed, r.Schedule)
		for _, broken := range r.Broken {
			fmt.Fprintf(&b, "- `%v`\n", broken)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%d of %d rounds broke an invariant.\n", failed, len(rep.results))
	return b.String()
}

// kinds writes the table of faults.
func (rep report) kinds(b *strings.Builder) {
	sum := map[chaos.Kind]chaos.Seen{}
	for _, r := range rep.results {
		for _, s := range r.Seen {
			t := sum[s.Kind]
			t.Count += s.Count
			t.Failed += s.Failed
			t.Suspect += s.Suspect
			t.Quarantined += s.Quarantined
			sum[s.Kind] = t
		}
	}
	b.WriteString("| Fault | what it does | made | work requests that failed | routes SUSPECT | routes QUARANTINED |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, k := range chaos.Kinds() {
		s := sum[k]
		if why := absent[rep.fabric][k]; why != "" && s.Count == 0 {
			fmt.Fprintf(b, "| %v | %s | not on this fabric: %s | | | |\n", k, k.What(), why)
			continue
		}
		fmt.Fprintf(b, "| %v | %s | %d | %d | %d | %d |\n", k, k.What(), s.Count, s.Failed, s.Suspect, s.Quarantined)
	}
	b.WriteString("\nFaults overlap: what is seen on a route counts for each that reaches it then, also for those that do it no harm.\n\n")
}

// totals writes what all rounds saw together.
func (rep report) totals(b *strings.Builder) {
	var took, faulty, slowest, bound time.Duration
	var done chaos.Done
	var requests, torn int64
	var probes, good uint64
	var suspicions int
	status, failed, tasks := map[string]int{}, map[string]int{}, map[string]int{}
	add := func(to, from map[string]int) {
		for k, n := range from {
			to[k] += n
		}
	}
	for _, r := range rep.results {
		took, faulty = took+time.Duration(r.Took), faulty+time.Duration(r.Faulty)
		slowest, bound = max(slowest, time.Duration(r.Slowest)), max(bound, time.Duration(r.Bound))
		done.Puts, done.Gets, done.Bytes = done.Puts+r.Done.Puts, done.Gets+r.Done.Gets, done.Bytes+r.Done.Bytes
		done.Retries, done.Lies = done.Retries+r.Done.Retries, done.Lies+r.Done.Lies
		requests, torn = requests+r.Requests, torn+r.Torn
		probes, good, suspicions = probes+r.Probes, good+r.Good, suspicions+r.Suspicions
		add(status, r.Status)
		add(failed, r.Done.Failed)
		add(tasks, r.Done.Tasks)
	}
	row := func(what string, format string, args ...any) {
		fmt.Fprintf(b, "| %s | %s |\n", what, fmt.Sprintf(format, args...))
	}
	b.WriteString("| | |\n| --- | --- |\n")
	row("rounds, their time, with faults", "%d, %v, %v", len(rep.results), took.Round(time.Millisecond), faulty.Round(time.Millisecond))
	row("transfers that succeeded", "%d WRITE, %d READ, %.1f MB, all compared", done.Puts, done.Gets, float64(done.Bytes)/1e6)
	row("transfers that failed, by reason", "%s", list(failed))
	row("their tasks", "%s", list(tasks))
	row("slices that were posted again", "%d", done.Retries)
	row("READs that the fabric completed without their data, found by checksum", "%d", done.Lies)
	row("work requests posted; failed, by status; ended with their QP", "%d; %s; %d", requests, list(status), torn)
	row("probes, of them good", "%d, %d", probes, good)
	row("routes that became SUSPECT without a fault that explains it (silence is enough)", "%d", suspicions)
	row("slowest recovery of a route; bound", "%v; %v", slowest.Round(time.Millisecond), bound.Round(time.Millisecond))
	b.WriteString("\n")
}

func list(m map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%d %s", m[k], k))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// flat writes what the program had at the first and the last quiet moment. On the
// simulated fabric each round has its own; the first round's are shown.
func (rep report) flat(b *strings.Builder) {
	first, last := rep.results[0].First, rep.results[len(rep.results)-1].Last
	which := "first and last quiet moment"
	if rep.fabric == "sim" {
		last, which = rep.results[0].Last, "first and last quiet moment of the first round"
	}
	fmt.Fprintf(b, "| %s | goroutines | threads | descriptors | heap | resident | QPs | CQs | regions | fabric memory |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", which)
	for i, f := range []chaos.Footprint{first, last} {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %.1f MB | %.1f MB | %d | %d | %d | %d B |\n", [...]string{"first", "last"}[i], f.Goroutines, f.Threads, f.Descriptors,
			float64(f.HeapBytes)/1e6, float64(f.Resident)/1e6, f.QPs, f.CQs, f.Regions, f.FabricBytes)
	}
	b.WriteString("\n")
}
