package fabric

import "time"

// Totals counts bytes of the whole fabric, as on the wire: data and control, but no
// pause frames. All that was injected is delivered, dropped or in the fabric.
type Totals struct {
	Injected  int64 // NICs began to send them
	Delivered int64 // NICs gave them to a QP, or to a QP that is no more
	Dropped   int64 // at full buffers and by faults
}

// InFabric returns the bytes that are on wires and in buffers.
func (t Totals) InFabric() int64 { return t.Injected - t.Delivered - t.Dropped }

// Totals returns the counts so far.
func (s *Sim) Totals() Totals { return s.totals }

// PortStats counts what one direction of a link did, in bytes as on the wire.
type PortStats struct {
	Sent      int64
	Peak      int64 // most data bytes in the queue since the last [Port.ResetPeak]
	Dropped   int64 // for want of buffer: before the queue, or by the NIC that it leads to
	Lost      int64 // by faults
	Pauses    int64 // times that the other end paused it
	PauseTime Time  // how long, up to now
}

// Stats returns the counts so far.
func (p *Port) Stats() PortStats {
	s := p.stats
	if p.paused {
		s.PauseTime += p.sim.now - p.pausedAt
	}
	return s
}

// ResetPeak lets [PortStats.Peak] count from now.
func (p *Port) ResetPeak() { p.stats.Peak = p.data.bytes }

// QPStats counts what a QP did.
type QPStats struct {
	Completed int64 // bytes of its work requests that succeeded
	Received  int64 // bytes that it took in order: requests of its peer, data of its READs
	Resent    int64 // sequence numbers that it went back over
	Timeouts  int64
	CNPs      int64 // received
}

// Stats returns the counts so far. The goodput of a WRITE or SEND flow is the growth
// of Received at the peer; that of a READ flow is its growth here.
func (q *QP) Stats() QPStats { return q.stats }

// Series is a quantity over time.
type Series struct {
	Every  time.Duration
	Values []int64 // the first one Every after the start
}

// Watch samples the port's queue from now until the time given.
func (p *Port) Watch(every, until time.Duration) *Series {
	s := &Series{Every: every}
	p.sim.Every(every, func() bool {
		s.Values = append(s.Values, p.Queue())
		return p.sim.Now()+every <= until
	})
	return s
}
