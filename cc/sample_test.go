package cc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The drain time is the bytes in flight over the delivery rate: what samples give
// agrees with what a watcher integrates.
func TestDrainTimeIsBytesOverRate(t *testing.T) {
	tests := []struct {
		name     string
		interval time.Duration // between two completions
		slices   int           // in flight
	}{
		{"fast and many: one in eight is measured", 5 * time.Microsecond, 4},
		{"slow: each is measured", 3 * ms, 5},
		{"very slow: few in an epoch", 40 * ms, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tunedRig(t, Enforce, func(c *Config) { c.TargetDrain = time.Second })
			route := r.route("D1", "P", "n1")
			gen := r.renew(route, 1)
			flying := make([]slice, tt.slices)
			for i := range flying {
				r.post(&flying[i], route, gen, 16*kib, 1)
			}
			for i := 0; r.now < time.Hour+time.Second; i++ {
				r.now += tt.interval
				s := &flying[i%tt.slices]
				r.settle(s, success)
				r.post(s, route, gen, 16*kib, 1)
				r.ctl.Tick(r.now)
			}
			drain, observed := route.Snapshot().Flow.DrainTime.Get()
			require.True(t, observed)
			want := float64(tt.slices) * float64(tt.interval) // bytes in flight / (slice / interval)
			assert.InEpsilon(t, want, float64(drain), 0.02, "drain time %s", drain)
			dev := r.ctl.Snapshot().Devices[0].Flow
			assert.Equal(t, route.Snapshot().Flow.DrainTime, dev.DrainTime, "one route is all of the device")
			assert.Equal(t, route.Snapshot().Flow.DeliveredBytes, dev.DeliveredBytes)
		})
	}
}

// One use number in eight is measured, and stands for all; what takes long stands for
// itself, and is always measured. A list is one measurement.
func TestWhatIsMeasured(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	long := time.Duration(route.longSample.Load())
	require.Equal(t, 100*time.Microsecond, long)
	var s slice
	var l List
	settle := map[string]func(delay time.Duration){
		"permit": func(delay time.Duration) {
			r.post(&s, route, gen, 4*kib, 1)
			r.now += delay
			r.settle(&s, success)
		},
		"list": func(delay time.Duration) {
			d := route.TryAcquireList(&l, gen, []int64{kib, 3 * kib}, nil)
			require.True(t, d.Admitted())
			require.NoError(t, l.Posting(1, r.now))
			r.now += delay
			l.Settle(d.Use, 3, success, r.now)
		},
	}
	for name, once := range settle {
		for delay, want := range map[time.Duration]int64{0: 1, long - 1: 1, long: 8, long + 1: 8, time.Second: 8} {
			s.permit.use, l.p.use = 16, 16
			once(delay) // 17, so that there is a meter
			m := route.meter.Load()
			before, delays := m.bytes.Load(), m.delay.Load()
			for range 8 { // 18 to 25
				once(delay)
			}
			weight := want * 4 * kib
			if want == 1 {
				weight *= sampleEvery
			}
			assert.Equal(t, uint64(weight), m.bytes.Load()-before, "%s, %s", name, delay)
			assert.Equal(t, uint64(weight)*uint64(delay/time.Microsecond), m.delay.Load()-delays, "%s, %s", name, delay)
		}
	}
}

// What takes long is a quarter of the target, but no more than 100 us.
func TestWhatIsLong(t *testing.T) {
	for target, want := range map[time.Duration]time.Duration{
		40 * time.Microsecond: 10 * time.Microsecond, 400 * time.Microsecond: 100 * time.Microsecond, 10 * ms: 100 * time.Microsecond,
	} {
		r := tunedRig(t, Enforce, func(c *Config) { c.TargetDrain = target })
		assert.Equal(t, uint32(want), r.route("D1", "P", "n1").longSample.Load(), "a target of %s", target)
	}
}

// Large and small slices weigh by their bytes.
func TestDrainTimeWeighsBytes(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var big, small slice
	r.post(&big, route, gen, 900*kib, 1)
	r.post(&small, route, gen, 100*kib, 1)
	r.now += 10 * ms
	r.settle(&small, success)
	r.now += 10 * ms
	r.settle(&big, success)
	r.next()
	drain, _ := route.Snapshot().Flow.DrainTime.Get()
	assert.InEpsilon(t, float64(19*ms), float64(drain), 0.001, "0.9 of 20 ms and 0.1 of 10 ms")
}

// What was delivered and not measured was fast, and weighs.
func TestUnmeasuredBytesAreFast(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	flying := make([]slice, 7)
	for i := range flying {
		s := &flying[i]
		s.permit.use = 8 // the next is 9
		r.post(s, route, gen, 64*kib, 1)
	}
	for i := range flying {
		r.settle(&flying[i], success)
	}
	r.next()
	flow := route.Snapshot().Flow
	assert.Equal(t, PressureLow, flow.Pressure, "deliveries of which none was measured")
	drain, observed := flow.DrainTime.Get()
	assert.True(t, observed)
	assert.Zero(t, drain)
}

// A cancelled work request that completes is as good a sample as any.
func TestCancelledSuccessIsSample(t *testing.T) {
	r := newRig(t, Enforce)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	r.post(&s, route, gen, 64*kib, 1)
	r.settle(&s, cancel)
	r.now += 30 * ms
	r.settle(&s, success)
	r.next()
	drain, _ := route.Snapshot().Flow.DrainTime.Get()
	assert.Equal(t, 30*ms, drain)
}

// Absurd sizes and ages do not overflow.
func TestSampleBounds(t *testing.T) {
	r := tunedRig(t, Enforce, func(c *Config) { c.MaxWindowBytes, c.DeviceWindowBytes = MaxBytes, MaxBytes })
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	r.post(&s, route, gen, maxSampleBytes, 1)
	r.now += 1000 * time.Hour
	r.settle(&s, success)
	r.next()
	assert.Equal(t, PressureHigh, route.Snapshot().Flow.Pressure, "the largest work request, after weeks")
	r.post(&s, route, gen, MaxBytes, 1)
	r.now += 1000 * time.Hour
	r.settle(&s, success)
	r.next()
	flow := route.Snapshot().Flow
	assert.Equal(t, int64(MaxBytes)+maxSampleBytes, flow.DeliveredBytes)
	drain, _ := flow.DrainTime.Get()
	assert.LessOrEqual(t, drain, maxSampleDelay)
	assert.GreaterOrEqual(t, drain, time.Duration(0))
}

// Sums are of what was measured, or of what was delivered if that is more, and nothing
// has no mean.
func TestSums(t *testing.T) {
	assert.Equal(t, uint64(7), sums{bytes: 7, delivered: 5}.weight())
	assert.Equal(t, uint64(9), sums{bytes: 7, delivered: 9}.weight())
	assert.Equal(t, uint64(7), sums{bytes: 7, delivered: -5}.weight(), "what is being given back undelivered")
	assert.Zero(t, sums{delivered: -5}.weight())
	assert.Zero(t, mean(5, 0))
	assert.Equal(t, 5*time.Microsecond, mean(50, 10))
}

// A huge slice weighs as much as a sample may, and a delay of days as long.
func TestLargestSample(t *testing.T) {
	r := tunedRig(t, Observe, nil)
	route := r.route("D1", "P", "n1")
	gen := r.renew(route, 1)
	var s slice
	for n, want := range map[int64]uint64{1<<31 - 1: 1<<31 - 1, 1 << 31: 1 << 31, 1<<31 + 1: 1 << 31, 1 << 40: 1 << 31} {
		r.post(&s, route, gen, n, 1)
		m := route.meter.Load()
		bytes, delay := m.bytes.Load(), m.delay.Load()
		r.now += time.Hour
		r.settle(&s, success)
		assert.Equal(t, want, m.bytes.Load()-bytes, "%d bytes", n)
		assert.Equal(t, want*60_000_000, m.delay.Load()-delay, "%d bytes", n)
	}
}

// Sizes up to 4 KiB are one class, and each class has twice the size of the one before.
func TestClassesOfBaseDelays(t *testing.T) {
	var b baseDelays
	sizes := []int64{4096, 8192}
	for n := int64(16384); n <= 1<<27; n *= 2 {
		sizes = append(sizes, n)
	}
	require.Len(t, sizes, sizeClasses)
	for i, n := range sizes { // the larger the faster, so that classes which run together show
		assert.Equal(t, uint64(100-i), b.learn(n, uint64(100-i)))
	}
	for i, n := range sizes {
		want := uint64(100 - i)
		assert.Equal(t, want, b.learn(n, 1000), "%d bytes", n)
		assert.Equal(t, want, b.learn(n/2+1, 1000), "%d bytes", n/2+1)
	}
	assert.Equal(t, uint64(100), b.learn(1, 1000))
	assert.Equal(t, uint64(85), b.learn(1<<40, 1000), "there is no larger class")
}

// Periods of base delays take 5 s each.
func TestPeriodsOfBaseDelays(t *testing.T) {
	var b baseDelays
	const s = time.Second
	assert.False(t, b.turn(5*s), "the first")
	assert.False(t, b.turn(10*s-2))
	assert.False(t, b.turn(10*s-1))
	b.learn(1, 9)
	assert.True(t, b.turn(10*s))
	assert.False(t, b.turn(10*s+1))
	b.learn(1, 20)
	assert.True(t, b.turn(15*s))
	assert.Equal(t, uint64(9), b.learn(1, 30), "the least of two periods")
	assert.True(t, b.turn(20*s))
	assert.Equal(t, uint64(20), b.learn(1, 40), "the 9 is forgotten")
	assert.True(t, b.turn(25*s))
	assert.Equal(t, uint64(30), b.learn(1, 50))
	b.learn(1, 10)
	assert.True(t, b.turn(30*s))
	assert.Equal(t, uint64(10), b.learn(1, 60), "also if the later one has it")
}

func TestBaseDelays(t *testing.T) {
	var b baseDelays
	const n, large = 64 * kib, 16 * mib
	assert.Equal(t, uint64(50), b.learn(n, 50), "the first is the base")
	assert.Equal(t, uint64(50), b.learn(n, 70))
	assert.Equal(t, uint64(40), b.learn(n, 40))
	assert.Equal(t, uint64(900), b.learn(large, 900), "each size has its own")
	assert.Equal(t, uint64(40), b.learn(n, 60))
	assert.Equal(t, uint64(0), b.learn(1, 0), "the smallest")
	assert.Equal(t, uint64(5000), b.learn(MaxBytes, 5000), "the largest")
	now := time.Hour
	assert.False(t, b.turn(now), "no period has ended")
	for range 2 { // the least of 10 s ago still counts
		now += basePeriod
		assert.Equal(t, uint64(40), b.learn(n, 80), "at %s", now)
		assert.True(t, b.turn(now))
	}
	now += basePeriod
	b.turn(now)
	assert.Equal(t, uint64(80), b.learn(n, 80), "the path has become longer")
	assert.False(t, b.turn(now+1))
	assert.Equal(t, uint64(80), b.learn(n, 90), "periods last their time")
}

// A lease that one route returns leaves the others theirs.
func TestReturnLease(t *testing.T) {
	r := newRig(t, Enforce)
	var routes []*Route
	var s slice
	for i := range 5 {
		route := r.route("D1", "P", string(rune('a'+i)))
		r.post(&s, route, r.renew(route, uint64(i+1)), 4*kib, uint64(i+1))
		r.settle(&s, success)
		routes = append(routes, route)
	}
	d := routes[0].device
	before := d.granted.Load()
	for left, i := range []int{0, 3, 1} {
		d.mu.Lock()
		d.returnLease(routes[i])
		d.returnLease(routes[i])
		d.mu.Unlock()
		assert.Equal(t, int64(4-left), d.leases.Load())
		assert.Equal(t, before*int64(4-left)/5, d.granted.Load())
		for place, route := range d.lessees {
			assert.EqualValues(t, place, route.place)
			assert.True(t, route.lessee)
		}
	}
	for i, route := range routes {
		r.post(&s, route, 1, 4*kib, uint64(i+1))
		r.settle(&s, success)
	}
	r.inFlight(routes[0], 0, 0)
}
