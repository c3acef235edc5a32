package recorder

import (
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
)

// Calls that are seldom made.

// Route is a call that made a route, which has that number from then on; 0 if it was
// refused.
type Route struct {
	Number uint32
	Pair   rail.Pair
	Fault  Fault
}

// Records packs the call.
func (c Route) Records() []Record {
	var to []Record
	for _, name := range []string{c.Pair.Peer, c.Pair.Incarnation, c.Pair.Local, c.Pair.Remote} {
		to = appendText(to, name)
	}
	return group(to, Record{head(routeKind, uint8(c.Fault), c.Pair.Port, 0, c.Number)})
}

func (r *Record) route(p *parts) Route {
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

// Records packs the call.
func (c Renew) Records() []Record {
	var fields []uint64
	for _, q := range c.QPs {
		fields = append(fields, q.ID, q.CQ, q.SRQ, q.WQ, q.Incarnation)
	}
	return group(appendNumbers(nil, fields), Record{head(renewKind, uint8(c.Fault), 0, 0, c.Route), c.Old, c.New})
}

func (r *Record) renew(p *parts) Renew {
	c := Renew{Route: r.number(), Fault: Fault(r.octet(1)), Old: r[1], New: r[2]}
	for n := p.numbers; len(n) >= 5; n = n[5:] {
		c.QPs = append(c.QPs, QP{n[0], n[1], n[2], n[3], n[4]})
	}
	return c
}

// CloseRoute is a call of Route.Close.
type CloseRoute struct{ Route uint32 }

// Record packs the call.
func (c CloseRoute) Record() Record { return Record{head(closeRouteKind, 0, 0, 0, c.Route)} }

// Close is a call of Controller.Close.
type Close struct{}

// Record packs the call.
func (Close) Record() Record { return Record{head(closeKind, 0, 0, 0, 0)} }

// Forget is a call of Forget.
type Forget struct {
	Peer, Incarnation string
	Routes            []uint32 // that were closed
}

// Records packs the call.
func (c Forget) Records() []Record {
	return group(appendNumbers(appendText(appendText(nil, c.Peer), c.Incarnation), c.Routes), Record{head(forgetKind, 0, 0, 0, 0)})
}

func (r *Record) forget(p *parts) Forget {
	return Forget{Peer: p.text(0), Incarnation: p.text(1), Routes: p.numbers32()}
}

// Event is a call of Event.
type Event struct {
	Event   classify.Event
	Now     time.Duration
	Reached int
	Fault   Fault
}

// Records packs the call.
func (c Event) Records() []Record {
	e := c.Event.Element
	return group(appendText(nil, e.Device), Record{
		head(eventKind, uint8(c.Fault), e.Port, 0, uint32(c.Event.Type)),
		e.QP, e.CQ, e.SRQ, e.WQ, uint64(c.Now), uint64(c.Reached),
	})
}

func (r *Record) event(p *parts) Event {
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

// Record packs the call.
func (c Tick) Record() Record { return Record{head(tickKind, flag(c.Skipped), 0, 0, 0), uint64(c.Now)} }

func (r *Record) tick() Tick { return Tick{Now: time.Duration(r[1]), Skipped: r.octet(1) != 0} }

// Due is a call of Due, and the routes that it returned.
type Due struct {
	Now    time.Duration
	Routes []uint32
}

// Records packs the call.
func (c Due) Records() []Record {
	return group(appendNumbers(nil, c.Routes), Record{head(dueKind, 0, 0, 0, 0), uint64(c.Now)})
}

func (r *Record) due(p *parts) Due {
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

// Records packs the call.
func (c Poller) Records() []Record {
	return group(appendNumbers(appendText(nil, c.Device), c.CQs), Record{head(pollerKind, uint8(c.Fault), 0, 0, c.Number)})
}

func (r *Record) poller(p *parts) Poller {
	return Poller{Number: r.number(), Fault: Fault(r.octet(1)), Device: p.text(0), CQs: append([]uint64(nil), p.numbers...)}
}

// Beat is a call of Beat, but for those with the time of the one before.
type Beat struct {
	Poller uint32
	Now    time.Duration
}

// Record packs the call.
func (c Beat) Record() Record { return Record{head(beatKind, 0, 0, 0, c.Poller), uint64(c.Now)} }

func (r *Record) beat() Beat { return Beat{Poller: r.number(), Now: time.Duration(r[1])} }

// ClosePoller is a call of Poller.Close.
type ClosePoller struct{ Poller uint32 }

// Record packs the call.
func (c ClosePoller) Record() Record { return Record{head(closePollerKind, 0, 0, 0, c.Poller)} }
