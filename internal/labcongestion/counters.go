package labcongestion

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rdmagate/rdmagate/internal/softroce"
)

// Counters are what Soft-RoCE counts of its transport, summed over devices. They
// explain goodput that is missing.
type Counters struct {
	// SentPackets counts all packets, acknowledgements and repeats too.
	SentPackets int64 `json:"sent_packets"`
	// Retries counts how often a sender went back and sent again.
	Retries int64 `json:"retries"`
	// OutOfSequence and Duplicates are packets that a receiver had to drop: those
	// behind a lost one, and those it had before.
	OutOfSequence int64 `json:"out_of_sequence"`
	Duplicates    int64 `json:"duplicates"`
}

// readCounters sums the counters of some NICs.
func readCounters(nics ...softroce.NIC) (Counters, error) {
	var sum Counters
	for _, n := range nics {
		for name, total := range map[string]*int64{
			"sent_pkts":           &sum.SentPackets,
			"completer_retry_err": &sum.Retries,
			"out_of_seq_request":  &sum.OutOfSequence,
			"duplicate_request":   &sum.Duplicates,
		} {
			path := filepath.Join("/sys/class/infiniband", n.Device, "ports/1/hw_counters", name)
			text, err := os.ReadFile(path)
			if err != nil {
				return Counters{}, fmt.Errorf("labcongestion: counter of %v: %w", n, err)
			}
			v, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err != nil {
				return Counters{}, fmt.Errorf("labcongestion: counter %s: %w", path, err)
			}
			*total += v
		}
	}
	return sum, nil
}

// since returns what was counted after an earlier reading.
func (c Counters) since(then Counters) Counters {
	return Counters{
		SentPackets:   c.SentPackets - then.SentPackets,
		Retries:       c.Retries - then.Retries,
		OutOfSequence: c.OutOfSequence - then.OutOfSequence,
		Duplicates:    c.Duplicates - then.Duplicates,
	}
}
