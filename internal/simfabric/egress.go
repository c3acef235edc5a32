package simfabric

import "time"

// chunkPackets is how many packets a QP may send before the next one has its turn.
const chunkPackets = 16

// stream is what one QP has to send from one NIC to another, in order.
type stream struct {
	from, to *NIC
	jobs     []job
	queued   bool          // waits for its turn
	landed   time.Duration // when its last chunk reaches the other NIC
}

// job is one message. Each of its chunks arrives by itself; a message without
// bytes arrives as one empty chunk.
type job struct {
	length, sent int
	arrive       func(offset, n int)
}

// push adds a message to the stream.
func (s *stream) push(length int, arrive func(offset, n int)) {
	s.jobs = append(s.jobs, job{length: length, arrive: arrive})
	if !s.queued {
		s.queued = true
		s.from.egress.turns = append(s.from.egress.turns, s)
	}
	s.from.transmit()
}

// next takes the next chunk from the stream.
func (s *stream) next() (n int, arrive func()) {
	j := &s.jobs[0]
	offset := j.sent
	n = min(j.length-offset, chunkPackets*s.from.mtu)
	j.sent += n
	f := j.arrive
	if j.sent == j.length {
		s.jobs = s.jobs[1:]
	}
	return n, func() { f(offset, n) }
}

// egress is the sending side of a NIC.
type egress struct {
	turns []*stream // those that have something to send
	busy  bool
}

// transmit sends the next chunk, if the NIC is not sending already.
func (p *NIC) transmit() {
	for !p.egress.busy && len(p.egress.turns) > 0 {
		s := p.egress.turns[0]
		p.egress.turns = p.egress.turns[1:]
		s.queued = false
		if len(s.jobs) == 0 {
			continue // dropped by its QP
		}
		n, arrive := s.next()
		if len(s.jobs) > 0 {
			s.queued = true
			p.egress.turns = append(p.egress.turns, s)
		}
		p.egress.busy = true
		p.net.after(duration(n, p.rate), func() {
			p.egress.busy = false
			s.land(n, arrive)
			p.transmit()
		})
	}
}

// land brings a chunk that has left to the front of the other NIC, and from there
// in, which begins with the chunk's first byte at the earliest. Chunks of one stream
// never overtake each other, whatever becomes of the path.
func (s *stream) land(n int, arrive func()) {
	to, net := s.to, s.to.net
	s.landed = max(s.landed, net.now+oneWay(s.from, to))
	net.at(s.landed, func() {
		begin := max(to.ingressFree, net.now-duration(n, s.from.rate))
		to.ingressFree = max(net.now, begin+duration(n, to.ingressRate()))
		net.at(to.ingressFree, arrive)
	})
}

// ingressRate returns the rate at which the NIC takes bytes in.
func (p *NIC) ingressRate() int64 {
	if p.limit > 0 {
		return min(p.limit, p.rate)
	}
	return p.rate
}

// oneWay returns the time from one NIC to the other.
func oneWay(from, to *NIC) time.Duration {
	return (from.latency+to.latency)/2 + to.delay
}

// duration returns the time that n bytes take at a rate. n is at most one chunk.
func duration(n int, rate int64) time.Duration {
	return time.Duration(int64(n) * int64(time.Second) / rate)
}
