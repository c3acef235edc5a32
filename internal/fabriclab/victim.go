package fabriclab

import (
	"fmt"
	"time"

	"github.com/rdmagate/rdmagate/internal/fabric"
)

const (
	kib     = int64(1) << 10
	mib     = int64(1) << 20
	slice64 = 64 * kib
)

// incastBytes is what each sender of the incast beside a victim sends.
const incastBytes = 1e6

// shallow is the lossless fat tree of the public htsim (csg-htsim, main_roce): 128 hosts
// at 100 Gb/s, 1 us a hop, pause at 15 packets of an ingress port and resume at 12.
func shallow() fabric.Config {
	return fabric.Config{Topology: fabric.FatTree(8), Switch: fabric.SwitchConfig{XOFF: 15 * 4096, XON: 12 * 4096}}
}

// deep is the same with switches of 32 MiB and dynamic thresholds.
func deep() fabric.Config { return fabric.Config{Topology: fabric.FatTree(8)} }

// victims: N hosts write 1 MB each to host 0, while another host writes to host 1, its
// neighbour in the rack. All begin at once.
func victims() (all []Experiment) {
	goals := map[int64]Goal{5e6: atMost(1.8), 1e6: atMost(2.5)}
	for _, f := range []struct {
		name, text string
		cfg        func() fabric.Config
		ns         []int
	}{
		{"victim", "pause at 15 packets of an ingress port", shallow, []int{64, 32, 16, 8}},
		{"victim-deep", "32 MiB a switch, dynamic thresholds", deep, []int{64}},
	} {
		for _, n := range f.ns {
			e := Experiment{
				Name:  fmt.Sprintf("%s/%d", f.name, n),
				Setup: fmt.Sprintf("Fat tree of 128 hosts, 100 Gb/s, 1 us a hop, lossless (%s), no ECN. %d hosts write 1 MB to one; another writes 5 MB, or 1 MB, to its neighbour in the rack. Slices of 64 KiB; their times are those of the 5 MB. Slowdown is against the other host alone without control.", f.text, n),
				Figures: []Figure{
					{"slowdown of 5 MB", "x", goals[5e6]},
					{"slowdown of 1 MB", "x", goals[1e6]},
					{"5 MB alone", "x none", Goal{}},
					{"1 MB alone", "x none", Goal{}},
					{"last flow", "x ideal", atMost(1.05)},
					{"in the fabric, mean", "MB", Goal{}},
					{"in the fabric, peak", "MB", Goal{}},
				},
				Run: func(seed uint64, arm Arm) (Outcome, error) { return victim(seed, arm, f.cfg(), n) },
			}
			if n != 64 {
				e.Figures[0].Goal, e.Figures[1].Goal = Goal{}, Goal{}
			}
			all = append(all, e)
		}
	}
	return all
}

func victim(seed uint64, arm Arm, cfg fabric.Config, n int) (Outcome, error) {
	out := newOutcome()
	for _, bytes := range []int64{5e6, 1e6} {
		alone, err := incast(seed, None(), cfg, 0, bytes)
		if err != nil {
			return out, err
		}
		slower, err := incast(seed, arm, cfg, 0, bytes)
		if err != nil {
			return out, err
		}
		beside, err := incast(seed, arm, cfg, n, bytes)
		if err != nil {
			return out, err
		}
		out.Values[fmt.Sprintf("slowdown of %d MB", bytes/1e6)] = beside.victim.Seconds() / alone.victim.Seconds()
		out.Values[fmt.Sprintf("%d MB alone", bytes/1e6)] = slower.victim.Seconds() / alone.victim.Seconds()
		if bytes == 5e6 {
			out.Values["last flow"] = beside.last.Seconds() / beside.ideal.Seconds()
			out.Values["in the fabric, mean"] = beside.fabric.mean(0, beside.last)
			out.Values["in the fabric, peak"] = beside.fabric.peak(0, beside.last)
			out.Series = append(out.Series, beside.fabric, beside.posted, beside.window)
			out.Times = thin(beside.times)
		}
	}
	return out, nil
}

// incastRun is what became of one incast.
type incastRun struct {
	victim, last, ideal time.Duration
	fabric, posted      *Series
	window              *Series // of one of the hosts
	times               []time.Duration
}

// incast lets n hosts outside the rack write to host 0, and one more to host 1.
func incast(seed uint64, arm Arm, cfg fabric.Config, n int, victim int64) (r incastRun, err error) {
	settings := DefaultSettings()
	settings.Timeout = 0
	b, err := newBed(seed, arm, cfg, settings)
	if err != nil {
		return r, err
	}
	const rack = 4
	hosts := b.random.Perm(b.Sim.Hosts() - rack)
	beside := b.Flow(rack+hosts[n], 1, fabric.Write)
	times := watchTimes(beside)
	beside.Transfer(victim, slice64, func(now time.Duration) { r.victim = now })
	for i, h := range hosts[:n] {
		f := b.Flow(rack+h, 0, fabric.Write)
		if i == 0 {
			r.window = b.watchWindow("window of one", 10*time.Microsecond, f)
		}
		b.Sim.At(time.Duration(b.random.Int64N(1000)), func() {
			f.Transfer(incastBytes, slice64, func(now time.Duration) { r.last = max(r.last, now) })
		})
	}
	r.fabric, r.posted = b.watchFabric(10*time.Microsecond), b.watchPosted(10*time.Microsecond)
	if n > 0 {
		trip := b.roundTrip(b.Sim.NIC(rack+hosts[0], 0), b.Sim.NIC(0, 0))
		r.ideal = trip + time.Duration(float64(n)*incastBytes/b.line()*1e9)
	}
	err = b.FinishTransfers(time.Second)
	r.times = *times
	return r, err
}
