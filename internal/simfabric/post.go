package simfabric

import (
	"fmt"
	"syscall"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
)

// maxMessage is the greatest length of a message in bytes.
const maxMessage = 1 << 31

// PostSend hands over work requests in order and returns how many were taken; with
// an error, those behind that number were not. The error wraps ENOMEM when the send
// queue is full, EINVAL when a request cannot be right, and verbs.ErrClosed. No work
// requests at all is no error.
//
// On a QP in ERR requests are taken and flush.
func (q *QP) PostSend(wrs []verbs.SendWR) (int, error) {
	const call = "post send"
	q.net.lock()
	defer q.net.unlock()
	if err := q.open(call); err != nil {
		return 0, err
	}
	if q.state == verbs.StateInit {
		return 0, invalid(call, q.String(), "the QP is not connected", "call Connect first")
	}
	for i := range wrs {
		if err := q.checkSend(call, i, &wrs[i]); err != nil {
			q.launch()
			return i, err
		}
		if q.state == verbs.StateErr {
			q.complainOf(wrs[i].WRID, classify.StatusWRFlushErr)
			continue
		}
		q.outstanding = append(q.outstanding, newRequest(&wrs[i]))
	}
	q.launch()
	return len(wrs), nil
}

func (q *QP) checkSend(call string, i int, wr *verbs.SendWR) error {
	switch {
	case len(q.outstanding) >= q.cfg.SendDepth:
		return full(call, q, i, "send", q.cfg.SendDepth)
	case wr.Op > verbs.OpRead:
		return invalid(call, q.String(), fmt.Sprintf("request %d of the list has opcode %d", i, wr.Op), "use the Op constants of package verbs")
	case wr.Flags&verbs.SendInline != 0:
		return invalid(call, q.String(), fmt.Sprintf("request %d of the list is inline, and the QP has room for 0 inline bytes", i), "clear SendInline")
	case wr.Len() > maxMessage:
		return invalid(call, q.String(), fmt.Sprintf("request %d of the list has %d bytes", i, wr.Len()), fmt.Sprintf("send at most %d at once", uint64(maxMessage)))
	}
	return checkSGEs(call, q, i, wr.More)
}

// PostRecv hands over receive requests, as PostSend does. They may be posted before
// the QP is connected.
func (q *QP) PostRecv(wrs []verbs.RecvWR) (int, error) {
	const call = "post receive"
	q.net.lock()
	defer q.net.unlock()
	if err := q.open(call); err != nil {
		return 0, err
	}
	for i := range wrs {
		if len(q.recvs) >= q.cfg.RecvDepth {
			return i, full(call, q, i, "receive", q.cfg.RecvDepth)
		}
		if err := checkSGEs(call, q, i, wrs[i].More); err != nil {
			return i, err
		}
		if q.state == verbs.StateErr {
			q.complainOf(wrs[i].WRID, classify.StatusWRFlushErr)
			continue
		}
		q.recvs = append(q.recvs, &receive{id: wrs[i].WRID, sges: list(wrs[i].SGE, wrs[i].More)})
	}
	return len(wrs), nil
}

func checkSGEs(call string, q *QP, i int, more []verbs.SGE) error {
	if n := 1 + len(more); n > maxSGE {
		return invalid(call, q.String(), fmt.Sprintf("request %d of the list has %d SGEs", i, n), fmt.Sprintf("use at most %d", maxSGE))
	}
	return nil
}

func full(call string, q *QP, i int, queue string, depth int) error {
	return &problem{
		call:   call,
		object: q.String(),
		reason: fmt.Sprintf("request %d of the list finds the %s queue full with %d requests", i, queue, depth),
		remedy: "post it again after a completion",
		cause:  syscall.ENOMEM,
	}
}
