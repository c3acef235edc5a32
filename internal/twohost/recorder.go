package twohost

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/internal/clock"
	"github.com/rdmagate/rdmagate/verbs"
)

// Path is a pair of NICs, by the names of the devices.
type Path struct{ Local, Remote string }

func (p Path) String() string { return p.Local + "->" + p.Remote }

// Slice is a work request that has ended. Times are those of the process's clock.
type Slice struct {
	Path          Path
	QP            uint64 // its serial number
	Bytes         int64
	Posted, Ended time.Duration
	Status        classify.Status
}

// Recorder notes every work request that goes through a host. It is safe for
// concurrent use.
type Recorder struct {
	remote map[netip.Addr]string // device by address

	mu     sync.Mutex
	slices []Slice
}

// Slices returns what has ended so far.
func (r *Recorder) Slices() []Slice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Slice(nil), r.slices...)
}

// Take returns what has ended, and forgets it.
func (r *Recorder) Take() []Slice {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.slices
	r.slices = nil
	return list
}

func (r *Recorder) add(list []Slice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slices = append(r.slices, list...)
}

// host is a host whose work requests are recorded.
type host struct {
	fabric.Host
	recorder *Recorder
}

// NICs returns the devices, each of which records.
func (h *host) NICs() []fabric.NIC {
	list := h.Host.NICs()
	for i := range list {
		list[i] = &nic{list[i], h.recorder}
	}
	return list
}

type nic struct {
	fabric.NIC
	recorder *Recorder
}

func (n *nic) NewCQ(depth int) (fabric.CQ, error) {
	c, err := n.NIC.NewCQ(depth)
	if err != nil {
		return nil, err
	}
	return &cq{CQ: c, recorder: n.recorder, out: map[request]Slice{}}, nil
}

func (n *nic) NewQP(c fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	mine, ok := c.(*cq)
	if !ok {
		return nil, fmt.Errorf("twohost: QP on %s with a CQ (%T) that is not this NIC's", n.Name(), c)
	}
	q, err := n.NIC.NewQP(mine.CQ, cfg)
	if err != nil {
		return nil, err
	}
	return &qp{QP: q, cq: mine, path: Path{Local: n.Name()}}, nil
}

// request names a work request that is out.
type request struct {
	qpn  uint32
	wrID uint64
}

type cq struct {
	fabric.CQ
	recorder *Recorder

	mu  sync.Mutex
	out map[request]Slice
}

func (c *cq) Poll(wcs []verbs.WC) (int, error) {
	n, err := c.CQ.Poll(wcs)
	if n > 0 {
		c.recorder.add(c.ended(wcs[:n], clock.Now()))
	}
	return n, err
}

func (c *cq) ended(wcs []verbs.WC, now time.Duration) (list []Slice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range wcs {
		k := request{wcs[i].QPNum, wcs[i].WRID}
		if s, ok := c.out[k]; ok {
			delete(c.out, k)
			s.Ended, s.Status = now, wcs[i].Status
			list = append(list, s)
		}
	}
	return list
}

type qp struct {
	fabric.QP
	cq   *cq
	path Path
}

func (q *qp) Connect(remote fabric.Address) error {
	addr, err := netip.ParseAddr(remote.GID)
	if err != nil {
		return err
	}
	q.path.Remote = q.cq.recorder.remote[addr.Unmap()]
	return q.QP.Connect(remote)
}

func (q *qp) PostSend(wrs []verbs.SendWR) (int, error) {
	qpn := q.Address().QPN
	q.cq.mu.Lock()
	now := clock.Now()
	for i := range wrs {
		q.cq.out[request{qpn, wrs[i].WRID}] = Slice{Path: q.path, QP: q.ID(), Bytes: int64(wrs[i].SGE.Length), Posted: now}
	}
	q.cq.mu.Unlock()
	n, err := q.QP.PostSend(wrs)
	if n < len(wrs) {
		q.cq.mu.Lock()
		for i := range wrs[n:] {
			delete(q.cq.out, request{qpn, wrs[n+i].WRID})
		}
		q.cq.mu.Unlock()
	}
	return n, err
}
