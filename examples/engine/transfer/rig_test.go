package transfer

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/internal/simfabric"
	prail "github.com/rdmagate/rdmagate/rail"
)

// rig is an engine on host a and a server on host b of a simulated fabric.
type rig struct {
	t      *testing.T
	net    *simfabric.Net
	a, b   fabric.Host
	table  *prail.Table
	ctl    *cc.Controller
	engine *Engine
	server *Server
	peer   *Peer
}

// bubble runs a test in fake time, in which the fabric is exact and waiting costs
// nothing.
func bubble(t *testing.T, o options, f func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t, o)) })
}

// options change what a rig is made of.
type options struct {
	recorder *recorder.Recorder // nil records nothing
	engine   func(*Config)
	cc       func(*cc.Config)
	hook     func(cc.Transition)
	wrap     func(fabric.Host) fabric.Host // host a
	server   func(*ServerConfig)
	addrs    []netip.Addr // of host a's NICs; those of host b come right after each
}

const simNICs = 2

func newRig(t *testing.T, o options) *rig {
	t.Helper()
	r := startRig(t, o)
	r.peer = r.connect()
	return r
}

// startRig starts both sides without a connection. At the end of the test it
// closes them and checks that every byte came back.
func startRig(t *testing.T, o options, opts ...Option) *rig {
	t.Helper()
	nics := func(prefix string) []simfabric.NICConfig {
		var list []simfabric.NICConfig
		for i := range simNICs {
			nic := simfabric.NICConfig{Name: prefix + string(rune('0'+i))}
			if o.addrs != nil {
				nic.Addr = o.addrs[i]
				if prefix == "simb" {
					nic.Addr = nic.Addr.Next()
				}
			}
			list = append(list, nic)
		}
		return list
	}
	fab, err := simfabric.New(simfabric.Config{
		Hosts: []simfabric.HostConfig{{Name: "a", NICs: nics("sima")}, {Name: "b", NICs: nics("simb")}},
		Rate:  1e9, Latency: 20 * time.Microsecond, Reason: "test",
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, fab.Close(), "closing the fabric: something still uses it") })
	r := &rig{t: t, net: fab, table: prail.NewTable()}
	r.a, err = fab.Host("a")
	require.NoError(t, err)
	r.b, err = fab.Host("b")
	require.NoError(t, err)
	engineHost := r.a
	if o.wrap != nil {
		engineHost = o.wrap(r.a)
	}

	numbers := cc.DefaultConfig()
	numbers.Mode = cc.Enforce
	if o.cc != nil {
		o.cc(&numbers)
	}
	began := time.Now()
	r.ctl, err = cc.New(numbers, cc.WithClock(func() time.Duration { return time.Since(began) }), cc.WithTransitions(o.hook), cc.WithPauses(r.table), cc.WithRecorder(o.recorder))
	require.NoError(t, err)

	cfg := DefaultConfig()
	cfg.AckTimeout, cfg.Retry = 8, 3 // 1 ms a try
	cfg.ProbeAckTimeout, cfg.ProbeRetry = cfg.AckTimeout, cfg.Retry
	cfg.BuildPause = time.Millisecond
	if o.engine != nil {
		o.engine(&cfg)
	}
	r.engine, err = New(engineHost, r.ctl, cfg, append(opts, WithName("a"))...)
	require.NoError(t, err)

	sc := DefaultServerConfig()
	sc.Name = "b"
	if o.server != nil {
		o.server(&sc)
	}
	r.server, err = NewServer(r.b, sc)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, r.engine.Close(), "closing the engine")
		assert.NoError(t, r.server.Close(), "closing the server")
		r.nothingInFlight()
	})
	return r
}

// connect connects the engine to the server over a pipe.
func (r *rig) connect() *Peer {
	r.t.Helper()
	near, far := net.Pipe()
	go r.server.Serve(far)
	p, err := r.engine.Connect(r.t.Context(), near)
	require.NoError(r.t, err)
	return p
}

// nothingInFlight checks that every domain got its bytes back, but for those of probes,
// which come back soon.
func (r *rig) nothingInFlight() {
	r.t.Helper()
	rails, onRoutes := simNICs*simNICs, func() int64 { return 0 }
	if r.peer != nil {
		rails, onRoutes = len(r.peer.rails), r.peer.InFlight
	}
	onDevices := func() (bytes int64) {
		for _, d := range r.ctl.Snapshot().Devices {
			bytes += d.InFlightBytes
		}
		return bytes
	}
	const what = "bytes in flight after the last permit was settled"
	assert.LessOrEqual(r.t, onDevices(), int64(rails*probeBytes), "%s, on devices", what)
	assert.LessOrEqual(r.t, onRoutes(), int64(rails*probeBytes), "%s, on routes", what)
	r.until(func() bool { return onDevices() == 0 && onRoutes() == 0 }, what)
}

// buffer returns a buffer of host a with random bytes.
func (r *rig) buffer(bytes int) *Buffer {
	r.t.Helper()
	b, err := r.engine.NewBuffer(bytes)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { assert.NoError(r.t, b.Close()) })
	fill(b.Bytes(), uint64(bytes))
	return b
}

func fill(mem []byte, seed uint64) {
	source := rand.NewPCG(seed, 1)
	for i := range mem {
		if i%8 == 0 {
			seed = source.Uint64()
		}
		mem[i] = byte(seed >> (8 * (i % 8)))
	}
}

// stored returns the bytes of an object of the server.
func (r *rig) stored(name string) []byte {
	r.t.Helper()
	r.server.store.mu.Lock()
	defer r.server.store.mu.Unlock()
	o := r.server.store.objects[name]
	require.NotNil(r.t, o, "object %q of the server", name)
	return o.buffer.Bytes()
}

// limit returns a context that bounds a wait to a minute.
func (r *rig) limit() context.Context {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	r.t.Cleanup(cancel)
	return ctx
}

// until waits for a condition.
func (r *rig) until(condition func() bool, otherwise string) {
	r.t.Helper()
	require.Eventually(r.t, condition, time.Minute, time.Millisecond, otherwise)
}
