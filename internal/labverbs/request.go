package labverbs

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/verbs"
)

// SliceBytes is how much each request of this package moves.
const SliceBytes = 512

// Requests returns n signaled requests of one operation, with WRIDs from 0.
// Request i moves slice i of the memory at both ends.
func (p *Pair) Requests(op verbs.Opcode, n int) []verbs.SendWR {
	list := make([]verbs.SendWR, n)
	for i := range list {
		list[i] = verbs.SendWR{
			WRID:       uint64(i),
			Op:         op,
			Flags:      verbs.SendSignaled,
			Imm:        0x1000 + uint32(i),
			RKey:       p.To.MR.RKey(),
			RemoteAddr: p.To.MR.Addr() + uint64(i*SliceBytes),
			SGE:        sge(p.From.MR, i, SliceBytes),
		}
	}
	return list
}

// sge returns the element of slice i, also of one that lies outside the region: it
// is for the NIC to notice.
func sge(mr *verbs.MR, i, bytes int) verbs.SGE {
	return verbs.SGE{Addr: mr.Addr() + uint64(i*SliceBytes), Length: uint32(bytes), LKey: mr.LKey()}
}

// PostReceives posts n receives of so many bytes at the answering end, with
// WRIDs from 100.
func (p *Pair) PostReceives(n, bytes int) error {
	list := make([]verbs.RecvWR, n)
	for i := range list {
		list[i] = verbs.RecvWR{WRID: 100 + uint64(i), SGE: sge(p.To.MR, i, bytes)}
	}
	_, err := p.To.QP.PostRecv(list)
	return err
}

// Post posts a list at the asking end, and is an error unless all of it went.
func (p *Pair) Post(list []verbs.SendWR) error {
	n, err := p.From.QP.PostSend(list)
	if err == nil && n != len(list) {
		err = fmt.Errorf("posted %d of %d requests without an error", n, len(list))
	}
	return err
}

// Limit is how long [Collect] waits: much longer than any retry budget here.
const Limit = 60 * time.Second

// Collect polls until n completions are there and returns them in order. It is
// an error, which says what came, if that takes longer than [Limit].
func Collect(cq verbs.Poller, n int) ([]verbs.WC, error) {
	wcs, err := collect(cq, n, Limit)
	if err == nil && len(wcs) < n {
		err = fmt.Errorf("%d of %d completions came within %v: %+v", len(wcs), n, Limit, wcs)
	}
	return wcs, err
}

// Watch polls for a time and returns what came: for completions that shall not
// come.
func Watch(cq verbs.Poller, d time.Duration) ([]verbs.WC, error) {
	return collect(cq, 1<<10, d)
}

func collect(cq verbs.Poller, n int, limit time.Duration) ([]verbs.WC, error) {
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	end := time.After(limit)
	wcs := make([]verbs.WC, n)
	got := 0
	for got < n {
		more, err := cq.Poll(wcs[got:])
		if err != nil {
			return wcs[:got], err
		}
		got += more
		if more > 0 {
			continue
		}
		select {
		case <-tick.C:
		case <-end:
			return wcs[:got], nil
		}
	}
	return wcs, nil
}

// drop polls a CQ empty.
func drop(cq verbs.Poller) error {
	wcs := make([]verbs.WC, 64)
	for {
		if n, err := cq.Poll(wcs); n == 0 || err != nil {
			return err
		}
	}
}
