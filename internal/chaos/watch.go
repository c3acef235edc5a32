package chaos

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/verbs"
)

// Watch stands between the engine and its NICs. It counts what is on the wire, and makes
// the faults that a fabric has not: of QPs, keys, queues and pollers. It is safe for
// concurrent use.
type Watch struct {
	setup Setup
	now   func() time.Duration
	court *court
	ends  *ends
	// failed is told of each work request that completes with an error.
	failed func(r route, status classify.Status)

	devices []device
	routes  []pairFaults
	stalled []atomic.Int64 // by lane: until when it stands still, by now
	objects objects

	mu  sync.Mutex
	qps map[*watchedQP]struct{}
}

// device is what is known of one local NIC.
type device struct {
	posted, ended atomic.Int64 // bytes
	requests      atomic.Int64 // that were posted
	torn          atomic.Int64 // of those, that ended with their QP
	shallow       atomic.Bool
	lanes         atomic.Int64 // CQs that were made
}

type pairFaults struct {
	stale, refuse, deaf atomic.Bool
	kills               atomic.Int64 // how many QPs are still to be killed
}

// objects counts what is open, on all hosts.
type objects struct{ qps, cqs, regions, bytes atomic.Int64 }

func newWatch(n Setup, now func() time.Duration, c *court, e *ends, failed func(route, classify.Status)) *Watch {
	return &Watch{
		setup: n, now: now, court: c, ends: e, failed: failed,
		devices: make([]device, n.NICs), routes: make([]pairFaults, n.Peers*n.NICs*n.NICs),
		stalled: make([]atomic.Int64, n.Workers+1), qps: map[*watchedQP]struct{}{},
	}
}

// index numbers the routes.
func (n Setup) index(r route) int { return (r.peer*n.NICs+r.local)*n.NICs + r.remote }

func (w *Watch) pair(r route) *pairFaults { return &w.routes[w.setup.index(r)] }

// onWire returns the bytes that were posted and have not ended, on all devices.
func (w *Watch) onWire() (bytes int64) {
	for i := range w.devices {
		bytes += w.devices[i].posted.Load() - w.devices[i].ended.Load()
	}
	return bytes
}

// full counts the QPs of each route, by its index.
func (w *Watch) full() []int {
	count := make([]int, len(w.routes))
	w.mu.Lock()
	defer w.mu.Unlock()
	for q := range w.qps {
		if at := q.route.Load(); at != nil {
			count[w.setup.index(*at)]++
		}
	}
	return count
}

// orphan destroys the other halves of a route's QPs, and calls over when the last of these
// is closed.
func (w *Watch) orphan(r route, destroy func(route) error, over func()) error {
	g := &orphans{over: over}
	g.left.Store(1) // until all were found
	w.mu.Lock()
	for q := range w.qps {
		if at := q.route.Load(); at != nil && *at == r {
			g.left.Add(1)
			q.orphans = append(q.orphans, g)
		}
	}
	w.mu.Unlock()
	err := destroy(r)
	g.closed()
	return err
}

// orphans are QPs whose other halves were destroyed.
type orphans struct {
	left atomic.Int64
	over func()
}

func (g *orphans) closed() {
	if g.left.Add(-1) == 0 {
		g.over()
	}
}

// host is a host that is watched.
type host struct {
	fabric.Host
	objects *objects
	nics    []fabric.NIC
}

func (h *host) NICs() []fabric.NIC { return append([]fabric.NIC(nil), h.nics...) }

func (h *host) Alloc(bytes int) ([]byte, error) {
	mem, err := h.Host.Alloc(bytes)
	h.objects.bytes.Add(int64(len(mem)))
	return mem, err
}

func (h *host) Free(mem []byte) error {
	err := h.Host.Free(mem)
	if err == nil {
		h.objects.bytes.Add(-int64(len(mem)))
	}
	return err
}

// near returns host A as the engine sees it.
func (w *Watch) near(h fabric.Host) fabric.Host {
	list := &host{Host: h, objects: &w.objects}
	for i, nic := range h.NICs() {
		list.nics = append(list.nics, &nearNIC{counting{nic, &w.objects}, w, i})
	}
	return list
}

// counting is a NIC whose regions are counted.
type counting struct {
	fabric.NIC
	objects *objects
}

type region struct {
	fabric.Region
	objects *objects
	once    sync.Once
}

func (c counting) Register(mem []byte) (fabric.Region, error) {
	r, err := c.NIC.Register(mem)
	if err != nil {
		return nil, err
	}
	c.objects.regions.Add(1)
	return &region{Region: r, objects: c.objects}, nil
}

func (r *region) Close() error {
	err := r.Region.Close()
	if err == nil {
		r.once.Do(func() { r.objects.regions.Add(-1) })
	}
	return err
}

type nearNIC struct {
	counting
	watch *Watch
	local int
}

func (n *nearNIC) NewCQ(depth int) (fabric.CQ, error) {
	c, err := n.NIC.NewCQ(depth)
	if err != nil {
		return nil, err
	}
	n.objects.cqs.Add(1)
	lane := int(n.watch.devices[n.local].lanes.Add(1)) - 1 // workers first, the prober last
	return &watchedCQ{CQ: c, watch: n.watch, local: n.local, lane: lane, qps: map[uint32]*watchedQP{}, torn: map[request]struct{}{}}, nil
}

func (n *nearNIC) NewQP(c fabric.CQ, cfg fabric.QPConfig) (fabric.QP, error) {
	mine, ok := c.(*watchedCQ)
	if !ok {
		return nil, fmt.Errorf("chaos: QP on %s with a CQ (%T) that is not this NIC's", n.Name(), c)
	}
	if n.watch.devices[n.local].shallow.Load() {
		cfg.SendDepth = 1
	}
	inner, err := n.NIC.NewQP(mine.CQ, cfg)
	if err != nil {
		return nil, err
	}
	q := &watchedQP{QP: inner, cq: mine, number: inner.Address().QPN, out: map[uint64]int64{}}
	n.objects.qps.Add(1)
	n.watch.ends.nearGID(inner.Address().GID, n.local)
	mine.add(q)
	n.watch.mu.Lock()
	defer n.watch.mu.Unlock()
	n.watch.qps[q] = struct{}{}
	return q, nil
}

// watchedCQ is a CQ of one lane.
type watchedCQ struct {
	fabric.CQ
	watch       *Watch
	local, lane int

	mu   sync.Mutex
	qps  map[uint32]*watchedQP // by number
	torn map[request]struct{}  // those that ended with their QP
}

// request names a work request.
type request struct {
	qpn  uint32
	wrID uint64
}

// maxTorn bounds how many torn down work requests are remembered.
const maxTorn = 1 << 14

func (c *watchedCQ) add(q *watchedQP) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.qps[q.number] = q
}

// Poll polls, unless the lane stands still.
func (c *watchedCQ) Poll(wcs []verbs.WC) (int, error) {
	if c.lane < len(c.watch.stalled) {
		if left := time.Duration(c.watch.stalled[c.lane].Load()) - c.watch.now(); left > 0 {
			time.Sleep(left)
		}
	}
	n, err := c.CQ.Poll(wcs)
	for i := range wcs[:max(n, 0)] {
		c.completed(&wcs[i])
	}
	return n, err
}

func (c *watchedCQ) completed(wc *verbs.WC) {
	id := request{wc.QPNum, wc.WRID}
	c.mu.Lock()
	q := c.qps[wc.QPNum]
	_, torn := c.torn[id]
	c.mu.Unlock()
	bytes, out := int64(0), false
	if q != nil {
		bytes, out = q.ended(wc.WRID)
	}
	switch {
	case !out && !torn:
		c.watch.court.broken(Once, "a%d: work request %#x of QP %#x completed with %v, and is not out", c.local, wc.WRID, wc.QPNum, wc.Status)
	case out:
		c.watch.devices[c.local].ended.Add(bytes)
		if wc.Status != classify.StatusSuccess {
			c.watch.failed(*q.route.Load(), wc.Status)
		}
	}
}

func (c *watchedCQ) Close() error {
	err := c.CQ.Close()
	if err == nil {
		c.watch.objects.cqs.Add(-1)
	}
	return err
}

// watchedQP is a QP of the engine.
type watchedQP struct {
	fabric.QP
	cq     *watchedCQ
	number uint32
	route  atomic.Pointer[route] // nil until it is connected

	mu     sync.Mutex
	out    map[uint64]int64 // bytes, by wr_id
	closed bool

	orphans []*orphans // the watch's lock guards it
}

func (q *watchedQP) Connect(remote fabric.Address) error {
	r, err := q.cq.watch.ends.find(remote)
	if err != nil {
		return err
	}
	r.local = q.cq.local
	q.route.Store(&r)
	return q.QP.Connect(remote)
}

// staleBits turns an rkey into one that the peer does not honour.
const staleBits = 0x5500

func (q *watchedQP) PostSend(wrs []verbs.SendWR) (int, error) {
	w, d := q.cq.watch, &q.cq.watch.devices[q.cq.local]
	faults := w.pair(*q.route.Load())
	if faults.refuse.Load() {
		return 0, syscall.EINVAL
	}
	bytes := make([]int64, len(wrs))
	sum := int64(0)
	q.mu.Lock()
	for i := range wrs {
		if faults.stale.Load() {
			wrs[i].RKey ^= staleBits
		}
		if _, out := q.out[wrs[i].WRID]; out {
			w.court.broken(Once, "a%d: work request %#x is posted on QP %#x, where it is out", q.cq.local, wrs[i].WRID, q.number)
		}
		bytes[i] = int64(wrs[i].Len())
		q.out[wrs[i].WRID] = bytes[i]
		sum += bytes[i]
	}
	q.mu.Unlock()
	d.posted.Add(sum)
	n, err := q.QP.PostSend(wrs)
	d.requests.Add(int64(n))
	for i := range wrs[n:] {
		q.ended(wrs[n+i].WRID)
		d.ended.Add(bytes[n+i])
	}
	if n > 0 && faults.kills.Load() > 0 && faults.kills.Add(-1) >= 0 {
		_ = q.QP.Fail() // it may just have been closed
	}
	return n, err
}

var errDeaf = errors.New("chaos: the device does not answer")

// Fail moves the QP to ERR, unless it hangs.
func (q *watchedQP) Fail() error {
	if r := q.route.Load(); r != nil && q.cq.watch.pair(*r).deaf.Load() {
		return errDeaf
	}
	return q.QP.Fail()
}

// ended notes the end of a work request, and returns its bytes, if it was out.
func (q *watchedQP) ended(wrID uint64) (bytes int64, out bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	bytes, out = q.out[wrID]
	delete(q.out, wrID)
	return bytes, out
}

// Close destroys the QP, and with it what is out on it.
func (q *watchedQP) Close() error {
	if err := q.QP.Close(); err != nil {
		return err
	}
	c := q.cq
	d := &c.watch.devices[c.local]
	c.mu.Lock()
	defer c.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil
	}
	q.closed = true
	if c.qps[q.number] == q {
		delete(c.qps, q.number)
	}
	if len(c.torn) > maxTorn {
		clear(c.torn)
	}
	for id, bytes := range q.out {
		c.torn[request{q.number, id}] = struct{}{}
		d.ended.Add(bytes)
		d.torn.Add(1)
	}
	clear(q.out)
	c.watch.objects.qps.Add(-1)
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	delete(c.watch.qps, q)
	for _, g := range q.orphans {
		g.closed()
	}
	return nil
}
