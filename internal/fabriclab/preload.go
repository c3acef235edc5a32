package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
)

// preload brings the windows of a flow's first route to a size before the run, by
// traffic that only the controller sees: slices that take as long as on the empty path
// to grow, ten targets to shrink. Arms without windows are left as they are.
func (b *Bed) preload(f *Flow, window int64) {
	switch c := f.engine.control.(type) {
	case *aimd:
		c.windows[f.routes[0].device] = window
	case *gate:
		c.preload(f.routes[0], window)
	}
}

// preloadRounds is after how many rounds a window that did not get there is a fault.
const preloadRounds = 10_000

func (g *gate) preload(r *route, window int64) {
	empty := g.engine.bed.roundTrip(r.device.nic, r.peer)
	full := empty + 10*g.ctl.Config().TargetDrain
	for range 16 { // one slice in eight is measured: the base delay must be among them
		g.round(r, empty)
	}
	for range preloadRounds {
		switch now := r.path.Snapshot().WindowBytes; {
		case now == window:
			return
		case now < window:
			g.round(r, empty)
		default:
			g.round(r, full)
		}
	}
	g.engine.bed.fail(fmt.Errorf("preload: the window is %d, not %d", r.path.Snapshot().WindowBytes, window))
}

// round fills the window, has all slices complete after a delay, and ends the control
// epoch.
func (g *gate) round(r *route, delay time.Duration) {
	type posted struct {
		permit cc.Permit
		use    cc.Use
	}
	var out []*posted
	for {
		p := &posted{}
		d := r.path.TryAcquire(&p.permit, r.generation, slice64, nil)
		if !d.Admitted() {
			break
		}
		p.use = d.Use
		if err := p.permit.Posting(uint64(r.endpoint.qps[0].Num), g.now()); err != nil {
			g.engine.bed.fail(err)
			return
		}
		out = append(out, p)
	}
	g.ahead += delay
	for _, p := range out {
		p.permit.Settle(p.use, classify.Completion(classify.StatusSuccess, 0), g.now())
	}
	g.ahead += g.ctl.Config().Epoch
	g.beat(r.device, g.engine.bed.Sim.Now())
	g.ctl.Tick(g.now())
}
