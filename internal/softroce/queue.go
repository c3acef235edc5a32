package softroce

import (
	"fmt"
	"strconv"
	"time"
)

// queue is what happens to packets on their way to a NIC, before they reach
// the link. Zero fields do nothing.
type queue struct {
	loss    float64       // percent of packets dropped
	delay   time.Duration // added to each packet
	mbit    float64       // rate in Mbit/s
	packets int           // longest queue, in packets; with mbit only
}

// roomyQueue is the queue length, in packets, where none is asked for: long
// enough that a delay alone drops nothing.
const roomyQueue = 100000

// Loss drops the given percentage, above 0 and at most 100, of the packets on
// their way to nic, at random. With 100, work requests to nic end in
// RETRY_EXC_ERR without effect; those that nic itself posts end so too, but
// take effect at the peer, since only their acknowledgements are lost.
func (l *Lab) Loss(nic NIC, percent float64) (Undo, error) {
	if !(percent > 0 && percent <= 100) {
		return nil, fmt.Errorf("softroce: loss of %v %% for %v: give more than 0 and at most 100", percent, nic)
	}
	return l.change(nic,
		func(q *queue) { q.loss = percent },
		func(q *queue) { q.loss = 0 })
}

// Delay adds d, from 1 microsecond to 1 minute, to the time of each packet on
// its way to nic.
func (l *Lab) Delay(nic NIC, d time.Duration) (Undo, error) {
	if d < time.Microsecond || d > time.Minute {
		return nil, fmt.Errorf("softroce: delay of %v for %v: give 1us to 1m", d, nic)
	}
	return l.change(nic,
		func(q *queue) { q.delay = d },
		func(q *queue) { q.delay = 0 })
}

// Rate limits the packets on their way to nic to mbit Mbit/s (0.001 to 100000),
// with a queue of limitPackets packets (1 to 100000) in front, beyond which
// packets are dropped. A Delay on the same NIC holds its packets in that queue
// too. A further Rate leaves the packets there that are queued, to go when they
// would have.
func (l *Lab) Rate(nic NIC, mbit float64, limitPackets int) (Undo, error) {
	if !(mbit >= 0.001 && mbit <= 100000) {
		return nil, fmt.Errorf("softroce: rate of %v Mbit/s for %v: give 0.001 to 100000", mbit, nic)
	}
	if limitPackets < 1 || limitPackets > roomyQueue {
		return nil, fmt.Errorf("softroce: queue of %d packets for %v: give 1 to %d", limitPackets, nic, roomyQueue)
	}
	return l.change(nic,
		func(q *queue) { q.mbit, q.packets = mbit, limitPackets },
		func(q *queue) { q.mbit, q.packets = 0, 0 })
}

// ClearQueue ends Loss, Delay and Rate of the NIC. It is not an error if there
// are none.
func (l *Lab) ClearQueue(nic NIC) error {
	if err := l.check(nic); err != nil {
		return err
	}
	return l.setQueue(nic, func(q *queue) { *q = queue{} })
}

// change sets one part of the NIC's queue; the undo function clears it.
func (l *Lab) change(nic NIC, set, clear func(*queue)) (Undo, error) {
	if err := l.check(nic); err != nil {
		return nil, err
	}
	if err := l.setQueue(nic, set); err != nil {
		return nil, err
	}
	return once(func() error { return l.setQueue(nic, clear) }), nil
}

// setQueue changes the NIC's queue. Packets queued at that moment stay if only
// numbers change, and are lost otherwise.
func (l *Lab) setQueue(nic NIC, edit func(*queue)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.queues[nic.Device]
	q := was
	edit(&q)
	if err := runBatch("tc", q.scriptAfter(was, nic)); err != nil {
		return err
	}
	l.queues[nic.Device] = q
	return nil
}

// scriptAfter is script for where another queue is. One that does the same with
// other numbers is changed where it is.
func (q queue) scriptAfter(was queue, nic NIC) []string {
	lines := q.script(nic)
	alike := (q.loss > 0) == (was.loss > 0) && (q.delay > 0) == (was.delay > 0) && (q.mbit > 0) == (was.mbit > 0)
	if alike && q != (queue{}) {
		return lines[1:]
	}
	return lines
}

// script returns the lines for "tc -b" that put the queue in place of whatever
// queue is there. It goes through a plain queue first, because netem keeps options
// that a change does not mention.
func (q queue) script(nic NIC) []string {
	root := "dev " + nic.port + " root"
	plain := "qdisc replace " + root + " handle 1: pfifo limit 1000"
	if q == (queue{}) {
		return []string{plain, "qdisc del " + root}
	}
	limit := roomyQueue
	if q.packets > 0 {
		limit = q.packets
	}
	line := fmt.Sprintf("qdisc replace %s handle 2: netem limit %d", root, limit)
	if q.loss > 0 {
		line += " loss " + strconv.FormatFloat(q.loss, 'f', -1, 64) + "%"
	}
	if q.delay > 0 {
		line += fmt.Sprintf(" delay %dus", q.delay.Microseconds())
	}
	if q.mbit > 0 {
		line += fmt.Sprintf(" rate %.0fkbit", q.mbit*1000)
	}
	return []string{plain, line}
}
