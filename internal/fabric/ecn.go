package fabric

// ECN says when a switch marks: never while the egress queue has up to KMin bytes,
// always above KMax, in between with a probability that grows from 0 to PMax.
type ECN struct {
	KMin, KMax int64   // bytes, as on the wire
	PMax       float64 // 0 to 1
}

// PaperECN returns the marking of the DCQCN paper (Zhu et al., SIGCOMM 2015), chosen for
// 40 Gb/s.
func PaperECN() *ECN { return &ECN{KMin: 5e3, KMax: 200e3, PMax: 0.01} }

// DeploymentECN returns the marking of the public HPCC simulations (run.py of
// alibaba-edu/High-Precision-Congestion-Control) for ports of that rate: 100 kB and 400 kB for each 25 Gb/s, 20 %.
func DeploymentECN(rate int64) *ECN {
	return &ECN{KMin: rate / 1e6 * 100 / 25, KMax: rate / 1e6 * 400 / 25, PMax: 0.2}
}

// mark marks a packet that leaves a queue of so many bytes.
func (w *Switch) mark(k *packet, queue int64) {
	e := w.ecn
	if e == nil || queue <= e.KMin {
		return
	}
	if queue > e.KMax || w.sim.random.Float64()*float64(e.KMax-e.KMin) < e.PMax*float64(queue-e.KMin) {
		k.marked = true
	}
}
