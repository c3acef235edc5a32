package recorder

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Call is a call of the controller that is seldom made, for [Recorder.Put]: a [Route],
// [Renew], [Unreachable], [CloseRoute], [Look], [Close], [Forget], [Event], [Tick], [Due],
// [Poller] or [ClosePoller].
type Call interface{ records() []record }

// Route is a call that made a route, which has that number from then on; 0 if it was
// refused.
type Route struct {
	Number uint32
	Pair   rail.Pair
	Fault  Fault
}

func (c Route) records() []record {
	var to []record
	for _, name := range []string{c.Pair.Peer, c.Pair.Incarnation, c.Pair.Local, c.Pair.Remote} {
		to = appendText(to, name)
	}
	return group(to, record{lead(routeKind, uint8(c.Fault), c.Pair.Port, 0, c.Number)})
}

func (r *record) route(p *parts) Route {
	return Route{Number: r.number(), Fault: Fault(r.octet(1)), Pair: rail.Pair{
		Peer: p.text(0), Incarnation: p.text(1), Local: p.text(2), Port: r.octet(2), Remote: p.text(3),
	}}
}

// QP is a QP as Renew was told of it.
type QP struct{ ID, CQ, SRQ, WQ, Incarnation uint64 }

// Renew is a call of Renew.
type Renew struct {
	Route    uint32
	Old, New uint64 // generations; New is what was answered, also with a fault
	QPs      []QP
	Fault    Fault
}

func (c Renew) records() []record {
	var fields []uint64
	for _, q := range c.QPs {
		fields = append(fields, q.ID, q.CQ, q.SRQ, q.WQ, q.Incarnation)
	}
	return group(appendNumbers(nil, fields), record{lead(renewKind, uint8(c.Fault), 0, 0, c.Route), c.Old, c.New})
}

func (r *record) renew(p *parts) Renew {
	c := Renew{Route: r.number(), Fault: Fault(r.octet(1)), Old: r[1], New: r[2]}
	for n := p.numbers; len(n) >= 5; n = n[5:] {
		c.QPs = append(c.QPs, QP{n[0], n[1], n[2], n[3], n[4]})
	}
	return c
}

// Unreachable is a call of Unreachable.
type Unreachable struct {
	Route uint32
	Now   time.Duration
	Old   uint64
}

func (c Unreachable) records() []record {
	return []record{{lead(unreachableKind, 0, 0, 0, c.Route), uint64(c.Now), c.Old}}
}

func (r *record) unreachable() Unreachable {
	return Unreachable{Route: r.number(), Now: time.Duration(r[1]), Old: r[2]}
}

// CloseRoute is a call of Route.Close.
type CloseRoute struct{ Route uint32 }

func (c CloseRoute) records() []record { return []record{{lead(closeRouteKind, 0, 0, 0, c.Route)}} }

// Look is a call of State or Snapshot, if it took in what the pause table has of the
// route's pair.
type Look struct{ Route uint32 }

func (c Look) records() []record { return []record{{lead(lookKind, 0, 0, 0, c.Route)}} }

// Close is a call of Controller.Close.
type Close struct{}

func (Close) records() []record { return []record{{lead(closeKind, 0, 0, 0, 0)}} }

// Forget is a call of Forget.
type Forget struct {
	Peer, Incarnation string
	Routes            []uint32 // that were closed
}

func (c Forget) records() []record {
	return group(appendNumbers(appendText(appendText(nil, c.Peer), c.Incarnation), c.Routes), record{lead(forgetKind, 0, 0, 0, 0)})
}

func (r *record) forget(p *parts) Forget {
	return Forget{Peer: p.text(0), Incarnation: p.text(1), Routes: p.numbers32()}
}

// Event is a call of Event.
type Event struct {
	Event   classify.Event
	Now     time.Duration
	Reached int
	Fault   Fault
}

func (c Event) records() []record {
	e := c.Event.Element
	return group(appendText(nil, e.Device), record{
		lead(eventKind, uint8(c.Fault), e.Port, 0, uint32(c.Event.Type)),
		e.QP, e.CQ, e.SRQ, e.WQ, uint64(c.Now), uint64(c.Reached),
	})
}

func (r *record) event(p *parts) Event {
	return Event{
		Event: classify.Event{Type: classify.EventType(r.number()), Element: classify.Element{
			Device: p.text(0), Port: r.octet(2), QP: r[1], CQ: r[2], SRQ: r[3], WQ: r[4],
		}},
		Fault: Fault(r.octet(1)), Now: time.Duration(r[5]), Reached: int(r[6]),
	}
}

// Tick is a call of Tick. Skipped says that it did nothing, since another one ran.
type Tick struct {
	Now     time.Duration
	Skipped bool
}

func (c Tick) records() []record {
	return []record{{lead(tickKind, flag(c.Skipped), 0, 0, 0), uint64(c.Now)}}
}

func (r *record) tick() Tick { return Tick{Now: time.Duration(r[1]), Skipped: r.octet(1) != 0} }

// Due is a call of Due, and the routes that it returned.
type Due struct {
	Now    time.Duration
	Routes []uint32
}

func (c Due) records() []record {
	return group(appendNumbers(nil, c.Routes), record{lead(dueKind, 0, 0, 0, 0), uint64(c.Now)})
}

func (r *record) due(p *parts) Due {
	return Due{Now: time.Duration(r[1]), Routes: p.numbers32()}
}

// Poller is a call of NewPoller. The poller has that number from then on; 0 if it was
// refused.
type Poller struct {
	Number uint32
	Device string
	CQs    []uint64
	Fault  Fault
}

func (c Poller) records() []record {
	return group(appendNumbers(appendText(nil, c.Device), c.CQs), record{lead(pollerKind, uint8(c.Fault), 0, 0, c.Number)})
}

func (r *record) poller(p *parts) Poller {
	return Poller{Number: r.number(), Fault: Fault(r.octet(1)), Device: p.text(0), CQs: append([]uint64(nil), p.numbers...)}
}

// ClosePoller is a call of Poller.Close.
type ClosePoller struct{ Poller uint32 }

func (c ClosePoller) records() []record { return []record{{lead(closePollerKind, 0, 0, 0, c.Poller)}} }
