package fabric

import (
	"errors"
	"math"
	"time"
)

// DCQCN holds the parameters of the rate control of each QP (Zhu et al., Congestion
// Control for Large-Scale RDMA Deployments, SIGCOMM 2015). Start from [PaperDCQCN] or
// [DeploymentDCQCN].
//
// A receiver answers marked packets with a CNP, at most one each CNPEvery. A CNP cuts
// the sender's rate by alpha/2: the first CutEvery after it came, the others at once or,
// if need be, CutEvery after the last cut, one cut for all that came until then. Alpha moves towards 1 by G
// in each AlphaEvery with a CNP, towards 0 without. The rate recovers half the way to
// its target with each step of the timer or of the byte counter. Once either has made
// FastRecovery steps since the cut, each further step also raises the target by AI, and
// once both have made more, by HAI. A QP starts at line rate with alpha 1.
type DCQCN struct {
	G            float64
	AlphaEvery   time.Duration
	CNPEvery     time.Duration // 0: a CNP for each marked packet
	CutEvery     time.Duration
	Timer        time.Duration
	ByteCounter  int64 // bytes on the wire; 0 is none: the timer then stands for both
	FastRecovery int
	AI, HAI      float64 // bit/s
	MinRate      float64 // bit/s
	KeepTarget   bool    // a cut before the first step since the last cut leaves the target
}

// PaperDCQCN returns the paper's parameters, chosen for 40 Gb/s. HAI, which is not given
// there, is ten times AI, and the minimum is 100 Mb/s, as by default in HPCC's public
// ns-3 model.
func PaperDCQCN() *DCQCN {
	return &DCQCN{
		G: 1. / 256, AlphaEvery: 55 * time.Microsecond, CNPEvery: 50 * time.Microsecond,
		Timer: 55 * time.Microsecond, ByteCounter: 10e6, FastRecovery: 5,
		AI: 40e6, HAI: 400e6, MinRate: 100e6,
	}
}

// DeploymentDCQCN returns the parameters of the public HPCC simulations (run.py of
// alibaba-edu/High-Precision-Congestion-Control, cc "dcqcn") for a NIC of that rate.
// Each marked packet makes a CNP there.
func DeploymentDCQCN(rate int64) *DCQCN {
	return &DCQCN{
		G: 1. / 256, AlphaEvery: time.Microsecond, CutEvery: 4 * time.Microsecond,
		Timer: 300 * time.Microsecond, FastRecovery: 1,
		AI: 5e6 * float64(rate) / 25e9, HAI: 50e6 * float64(rate) / 25e9, MinRate: 1e9,
		KeepTarget: true,
	}
}

func (d *DCQCN) validate() error {
	if !(d.G > 0 && d.G < 1) || d.AlphaEvery <= 0 || d.CNPEvery < 0 || d.CutEvery < 0 || d.Timer <= 0 ||
		d.ByteCounter < 0 || d.FastRecovery < 0 || !(d.AI >= 0) || !(d.HAI >= 0) || !(d.MinRate >= 1e3) {
		return errors.New("fabric: DCQCN: G is not in 0 to 1, a time or rate is not positive, or MinRate is below 1 kb/s")
	}
	return nil
}

// limiter is DCQCN's state of one QP: the reaction point of what it sends, and the
// notification point of what it receives.
type limiter struct {
	law  *DCQCN
	line float64 // bit/s

	rate, target float64
	alpha        float64
	alphaAt      Time // alpha is up to date until then; never before the first CNP
	congested    bool // there was a CNP since
	nextCut      Time // not before
	cutting      bool // a cut event is scheduled
	timerSteps   int
	byteSteps    int
	counted      int64
	stepAt       Time // next step of the timer, or never
	stepping     bool // a rate event is scheduled

	nextCNP Time // not before
}

func (l *limiter) start(law *DCQCN, line int64) {
	*l = limiter{
		law: law, line: float64(line), rate: float64(line), target: float64(line),
		alpha: 1, alphaAt: never, stepAt: never,
	}
}

// Rate returns the rate in bit/s that DCQCN allows the QP now.
func (q *QP) Rate() float64 { return q.rate }

// congestionSeen answers a marked packet.
func (q *QP) congestionSeen() {
	if q.law == nil || q.sim.now < q.nextCNP {
		return
	}
	q.nextCNP = q.sim.now + picoseconds(q.law.CNPEvery)
	q.nic.reply(q.packet(packetCNP, cnpWire))
}

// receiveCNP is the reaction point.
func (q *QP) receiveCNP() {
	now := q.sim.now
	q.stats.CNPs++
	if q.alphaAt == never {
		q.alphaAt = now
		q.nextCut = now + picoseconds(q.law.CutEvery)
	}
	q.age(now)
	q.congested = true
	switch {
	case q.cutting:
	case now < q.nextCut:
		q.cutting = true
		q.sim.agenda.push(q.nextCut, eventCut, q.id)
	default:
		q.cut()
	}
}

// cut lowers the rate and begins the recovery.
func (q *QP) cut() {
	q.cutting = false
	if !q.alive {
		return
	}
	now := q.sim.now
	q.age(now)
	q.nextCut = now + picoseconds(q.law.CutEvery)
	if !q.law.KeepTarget || q.timerSteps+q.byteSteps > 0 {
		q.target = q.rate
	}
	q.rate = max(q.law.MinRate, q.rate*(1-q.alpha/2))
	q.timerSteps, q.byteSteps, q.counted = 0, 0, 0
	q.stepAt = now + picoseconds(q.law.Timer)
	q.schedule()
}

// age brings alpha up to date.
func (l *limiter) age(now Time) {
	every := picoseconds(l.law.AlphaEvery)
	n := (now - l.alphaAt) / every
	if n == 0 {
		return
	}
	l.alphaAt += n * every
	l.alpha *= math.Pow(1-l.law.G, float64(n))
	if l.congested {
		l.alpha += l.law.G * math.Pow(1-l.law.G, float64(n-1))
		l.congested = false
	}
}

func (q *QP) schedule() {
	if !q.stepping && q.stepAt != never {
		q.stepping = true
		q.sim.agenda.push(q.stepAt, eventRate, q.id)
	}
}

// rateTimer is the rate event: if the step has moved on, so does the event.
func (q *QP) rateTimer() {
	q.stepping = false
	if !q.alive {
		return
	}
	if q.stepAt <= q.sim.now {
		q.stepAt = q.sim.now + picoseconds(q.law.Timer)
		q.increase()
		q.timerSteps++
	}
	q.schedule()
}

// increase is one step towards the target.
func (l *limiter) increase() {
	fast, both := l.timerSteps, l.byteSteps
	if l.law.ByteCounter == 0 {
		both = fast
	}
	fast, both = max(fast, both), min(fast, both)
	switch {
	case fast < l.law.FastRecovery:
	case both > l.law.FastRecovery:
		l.target += l.law.HAI
	default:
		l.target += l.law.AI
	}
	l.target = min(l.target, l.line)
	l.rate = (l.rate + l.target) / 2
	if l.rate > 0.999*l.line {
		l.rate = l.line
		l.stepAt = never
	}
}

// pace says when the QP may send again after k.
func (q *QP) pace(k *packet) {
	if q.rate >= q.line {
		return
	}
	if b := q.law.ByteCounter; b > 0 {
		if q.counted += int64(k.wire); q.counted >= b {
			q.counted -= b
			q.increase()
			q.byteSteps++
		}
	}
	q.sendAt = q.sim.now + Time(float64(k.wire)*8*float64(Second)/q.rate)
}
