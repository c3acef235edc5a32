package transfer

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/rdmagate/rdmagate/classify"
)

// flush posts a QP's batch. What could not be posted goes back to the owner.
func (l *lane) flush(qp *queuePair) bool {
	now := l.engine.ctl.Now()
	wrs, going := l.wrs[:0], l.going[:0]
	for _, s := range qp.batch {
		if err := s.Posting(qp.ID(), now); err != nil { // renewed meanwhile: the bytes are back already
			l.takeBack(s)
			l.owner.unposted(s, nil)
			continue
		}
		wrs, going = append(wrs, s.workRequest()), append(going, s)
	}
	clear(qp.batch)
	qp.batch = qp.batch[:0]
	if len(wrs) == 0 {
		return false
	}
	n, err := qp.PostSend(wrs)
	for _, s := range going[:n] {
		s.armed = now
		l.owner.posted(s, now)
	}
	for _, s := range going[n:] {
		s.Unposted()
		l.takeBack(s)
	}
	var refused error
	if err != nil {
		refused = l.rejected(qp, err)
	}
	for _, s := range going[n:] {
		l.owner.unposted(s, refused)
	}
	return n > 0
}

// takeBack forgets an admitted slice that did not reach the wire.
func (l *lane) takeBack(s *slice) {
	l.tally.unposted.Add(1)
	l.release(s)
}

// rejected deals with a post that the verb refused, in whole or from some work request
// on; those are taken back already. A full send queue has room again after the next
// completion, and the result is nil. After any other error the QP is not used any more.
func (l *lane) rejected(qp *queuePair, err error) error {
	l.tally.completed(classify.RejectedPost(uint32(errno(err))))
	if errors.Is(err, syscall.ENOMEM) && qp.taken > 0 {
		qp.full = true
		return nil
	}
	qp.endpoint.rail.retire(qp.endpoint)
	return fmt.Errorf("post on %s: %w", qp.endpoint.rail.pair, err)
}

func errno(err error) syscall.Errno {
	var no syscall.Errno
	errors.As(err, &no)
	return no
}
