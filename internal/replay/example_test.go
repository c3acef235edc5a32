package replay_test

import (
	"fmt"
	"strings"

	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
)

// printer prints what the controller answers, and how routes change.
type printer struct{}

func (printer) Trace(s *replay.Step) {
	for _, a := range s.Answers {
		if s.Statement.Kind == scenario.Acquire {
			fmt.Printf("%-5s %s: %s\n", s.At, a.Of, a.Text)
		}
	}
	for _, t := range s.Transitions {
		fmt.Printf("%-5s %s: %s -> %s, %s\n", s.At, t.Route, t.From, t.To, t.Reason)
	}
}

func Example() {
	file, err := scenario.NewReader(strings.NewReader(`scenario 1
# Three timeouts, a trial that fails, and one that succeeds.
settings field
route r D1 P n1
renew r qps=1..3
send p1..p3 r qp=1..3
@4s complete p1..p3 RETRY_EXC_ERR vendor=0x81
acquire p1 r -> avoid PATH_QUARANTINED retry_after=30s
renew r
@34s transfer p1 r 4KiB RETRY_EXC_ERR
renew r
@94s transfer p1 r 4KiB
acquire p2 r 1MiB -> admit
post p2
acquire p3 r -> admit  # a window of 64KiB is full
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := replay.Run(file, replay.Options{Tracer: printer{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Mismatches[0])
	// Output:
	// 4s    r: HEALTHY -> SUSPECT, ROUTE_TIMEOUT
	// 4s    r: SUSPECT -> QUARANTINED, ROUTE_TIMEOUT
	// 4s    p1: avoid PATH_QUARANTINED retry_after=30s
	// 34s   r: QUARANTINED -> PROBING, PROBING
	// 34s   r: PROBING -> QUARANTINED, PROBE_FAILED
	// 1m34s r: QUARANTINED -> PROBING, PROBING
	// 1m34s r: PROBING -> HEALTHY, NONE
	// 1m34s p2: admit
	// 1m34s p3: defer BYTE_WINDOW domain=route
	// line 15, at 94s: acquire p3 r -> admit: p3: expected admit, got defer BYTE_WINDOW domain=route
}
