package fabriclab

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/fabric"
)

// control decides what one engine may post.
type control interface {
	// admit asks for a slice's bytes on a route.
	admit(r *route, s *slice) answer
	// posted says that an admitted slice goes to a QP of its endpoint now. False means
	// that it must not: nothing is held then.
	posted(s *slice, now time.Duration) bool
	// done says what became of a posted slice.
	done(s *slice, v classify.Verdict, now time.Duration)
}

// answer is what admission says to a slice.
type answer struct {
	admitted bool
	rebuild  bool          // the route wants another endpoint
	after    time.Duration // ask again then; 0 is after the next completion or tick
}

// keeper is a control that follows endpoints, threads and time.
type keeper interface {
	control
	// built says that an endpoint is ready and names its QPs.
	built(e *endpoint)
	// beat says that the completions of a device are about to be handled.
	beat(d *device, now time.Duration)
	tick(now time.Duration)
	// event takes an asynchronous event of a device.
	event(d *device, event fabric.Event, now time.Duration)
	// probe sends what is due.
	probe(now time.Duration)
	// held returns the bytes that it counts as in flight.
	held() int64
}

// unlimited is the control of an engine without any: send queues are the limit.
type unlimited struct{}

func (unlimited) admit(*route, *slice) answer                  { return answer{admitted: true} }
func (unlimited) posted(*slice, time.Duration) bool            { return true }
func (unlimited) done(*slice, classify.Verdict, time.Duration) {}

// static has a fixed window for each route: the bandwidth-delay product, and one slice
// more because a slice's bytes come back all together at its end.
type static struct{ unlimited }

func (static) admit(r *route, s *slice) answer {
	window := (r.product + s.flow.largest - 1) / s.flow.largest * s.flow.largest
	return answer{admitted: r.out == 0 || r.out+s.bytes <= window+s.flow.largest}
}

// The numbers of the device's AIMD, as an older proposal had them.
const (
	aimdStart = 64 << 20
	aimdMost  = 256 << 20
	aimdStep  = 4 << 10 // for each slice that was delivered
)

// aimd has one window for each device. Only failures make it smaller.
type aimd struct {
	unlimited
	windows map[*device]int64
}

func newAIMD() *aimd { return &aimd{windows: map[*device]int64{}} }

func (a *aimd) window(d *device) int64 {
	if w, ok := a.windows[d]; ok {
		return w
	}
	return aimdStart
}

func (a *aimd) admit(r *route, s *slice) answer {
	d := r.device
	return answer{admitted: d.out == 0 || d.out+s.bytes <= a.window(d)}
}

func (a *aimd) done(s *slice, v classify.Verdict, _ time.Duration) {
	d := s.endpoint.route.device
	if v.Succeeded() {
		a.windows[d] = min(a.window(d)+aimdStep, aimdMost)
	} else {
		a.windows[d] = max(a.window(d)/2, aimdStep)
	}
}
