package recorder

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// samples are calls with all their fields set, to the largest that fits where a field
// shares its word.
func samples() map[string]struct {
	records []record
	want    any
} {
	type sample = struct {
		records []record
		want    any
	}
	longest := strings.Repeat("x", textBytes)
	acquire := Acquire{
		Way: HandingOff, Route: 1<<32 - 1, Permit: 1<<64 - 1, Task: 1<<63 + 5, New: true, Attempt: 1<<32 - 2, TaskState: 3,
		Generation: 1<<64 - 3, Bytes: 1<<61 - 1, Answer: 3, Domain: 2, Hint: 2, Reason: 13, Fault: Invalid, RetryAfter: -1, Use: 1<<31 - 1,
	}
	list := acquire
	list.Way, list.Sizes, list.Bytes = AcquiringList, []int64{1, 2, 3, 4, 5, 6, 6, 6, 7}, 40
	empty := Acquire{Way: AcquiringList, Fault: Invalid}
	post := Post{Permit: 9, Use: 8, QP: 7, Now: 6, Fault: TrialOver, List: true}
	unposted := Unposted{Permit: 9, Use: 8, List: true, GaveBack: true, Slices: 1<<32 - 1, From: -1}
	settle := Settle{
		Permit: 9, Use: 8, Observation: Observation{classify.SourceCompletion, false, 1<<32 - 1, 1<<32 - 2}, Now: 7, Edges: 3,
		List: true, Slices: 1<<32 - 3, Ended: 1<<32 - 4, Released: 1<<32 - 5,
	}
	rejected := Settle{Observation: Observation{classify.SourceSignal, true, 12, 0}}
	beat, clock, jitter := Beat{Poller: 5, Now: 6}, clock{7}, jitter{1.25}
	told := Told{
		Route: 5, From: 4, To: 3, Notice: 4, Reason: 12, Observation: Observation{classify.SourceCMEvent, false, 3, 4},
		Generation: 1<<64 - 1, At: 9, LastRoute: true, Shared: true,
	}
	synced := Synced{Route: 5, Now: 6, Version: 7, Evidence: 8, Paused: true, TrialOut: true, Count: 9, Resume: 10}
	route := Route{Number: 5, Fault: Closed}
	route.Pair.Peer, route.Pair.Incarnation, route.Pair.Local, route.Pair.Port, route.Pair.Remote = longest, longest+"y", "", 255, "r"
	renew := Renew{Route: 5, Old: 6, New: 7, Fault: StaleGeneration}
	for i := range uint64(100) {
		renew.QPs = append(renew.QPs, QP{i, i % 3, 0, i % 2, i * i})
	}
	event := Event{Now: 5, Reached: 6, Fault: NoElement}
	event.Event.Type = 1<<32 - 1
	event.Event.Element = classify.Element{Device: "D", Port: 255, QP: 1, CQ: 2, SRQ: 3, WQ: 4}
	one := func(r record) []record { return []record{r} }
	calls := map[string]sample{
		"acquire":  {one(pack(acquire.words())), acquire},
		"list":     {list.clone().recordsOfList(nil), list},
		"bad list": {empty.clone().recordsOfList(nil), empty},
		"post":     {one(pack(post.words())), post},
		"unposted": {one(pack(unposted.words())), unposted},
		"settle":   {one(pack(settle.words())), settle},
		"rejected": {one(pack(rejected.words())), rejected},
		"beat":     {one(pack(beat.words())), beat},
		"clock":    {one(pack(clock.words())), clock},
		"jitter":   {one(pack(jitter.words())), jitter},
		"told":     {one(pack(told.words())), told},
		"synced":   {one(pack(synced.words())), synced},
	}
	for name, c := range map[string]Call{
		"route": route, "renew": renew, "renew of no QPs": Renew{Fault: Invalid}, "close route": CloseRoute{5}, "close": Close{}, "look": Look{5}, "unreachable": Unreachable{5, 7, 1<<64 - 1},
		"forget": Forget{longest + longest, "", []uint32{1, 1<<32 - 1}}, "event": event, "tick": Tick{5, true},
		"due": Due{5, []uint32{3, 4}}, "due of none": Due{Now: 5}, "poller": Poller{5, "D", []uint64{1<<64 - 1}, Closed}, "close poller": ClosePoller{5},
	} {
		calls[name] = sample{c.records(), c}
	}
	return calls
}

func (a Acquire) clone() *Acquire { return &a }

// What a decoder makes of some records.
func decode(records []record) (entries []any) {
	var d decoder
	tell := func(entry any) error { entries = append(entries, entry); return nil }
	for i := range records {
		_ = d.take(&records[i], tell)
	}
	_ = d.tellLost(tell)
	return entries
}

func TestRecordsSayWhatTheyWereMadeFrom(t *testing.T) {
	kinds := map[kind]bool{}
	for name, s := range samples() {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []any{s.want}, decode(s.records))
		})
		kinds[s.records[len(s.records)-1].kind()] = true
	}
	for k := acquireKind; k <= dueKind; k++ {
		assert.True(t, kinds[k], "a sample of kind %d", k)
	}
}

// A call whose records are not all there is lost, whichever is missing, and the calls
// around it are not.
func TestIncompleteCallIsLost(t *testing.T) {
	before, after := Beat{Poller: 1}, Beat{Poller: 2}
	for name, s := range samples() {
		if len(s.records) == 1 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for missing := range s.records {
				var d decoder
				var got []any
				tell := func(entry any) error { got = append(got, entry); return nil }
				take := func(r record) { require.NoError(t, d.take(&r, tell)) }
				take(pack(before.words()))
				for i, r := range s.records {
					if i == missing {
						d.miss(1)
						continue
					}
					take(r)
				}
				take(pack(after.words()))
				want := uint64(2) // the record, and the call that lacks it
				if missing == len(s.records)-1 {
					want = 1
				}
				assert.Equal(t, []any{before, lost{want}, after}, got, "record %d of %d", missing, len(s.records))
			}
		})
	}
}

func TestAnyRecordCanBeRead(t *testing.T) {
	const seed = 1
	rnd := rand.New(rand.NewPCG(seed, 2))
	for range 100_000 {
		var r record
		for i := range r {
			r[i] = rnd.Uint64()
		}
		r[0] = r[0]&^255 | uint64(rnd.IntN(int(numbersKind)+2))
		decode([]record{r})
	}
}

func TestObservationGivesTheVerdictBack(t *testing.T) {
	for _, v := range []classify.Verdict{
		{}, classify.Completion(classify.StatusSuccess, 0), classify.Completion(77, 5), classify.AsyncEvent(classify.EventPortErr),
		classify.CMEvent(classify.CMEventDisconnected), classify.Of(classify.SignalTeardown), classify.RejectedPost(12),
		classify.RejectedPost(uint32(classify.SignalTeardown)), classify.Of(classify.SignalRejectedPost),
	} {
		var o Observation
		o.Of(v)
		assert.Equal(t, v, o.Verdict(), "%s", v)
		w := pack((&Settle{Observation: o}).words())
		assert.Equal(t, v, w.settle().Observation.Verdict(), "%s, from the ring", v)
	}
}

// Every field of a sample is set, so that one that is not packed shows.
func TestSamplesSetAllFields(t *testing.T) {
	all := samples()
	for _, name := range []string{"acquire", "post", "unposted", "settle", "told", "synced", "route", "renew", "event", "poller", "tick"} {
		v := reflect.ValueOf(all[name].want)
		for i := range v.NumField() {
			if field := v.Type().Field(i).Name; field != "Sizes" {
				assert.False(t, v.Field(i).IsZero(), "%s: %s", name, field)
			}
		}
	}
}
