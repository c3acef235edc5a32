//go:build guest

package softroce

import (
	"bytes"
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long a thing that must happen may take in an emulated guest
// on a busy machine.
const patience = 30 * time.Second

// pair is one direction between two NICs, by device name.
type pair struct{ from, to string }

// probe sends datagrams between all NICs and notes which arrive, so that each
// direction of each pair is seen on its own.
type probe struct {
	lab   *Lab
	conns map[string]*net.UDPConn

	mu      sync.Mutex
	arrived map[pair]int
}

// openLab returns the lab in its healthy state, with a probe on it.
func openLab(t *testing.T) (*Lab, *probe) {
	t.Helper()
	lab, err := Current()
	require.NoError(t, err, "guest tests must run in a guest: go test -tags guest -exec guestexec")
	require.GreaterOrEqual(t, len(lab.A), 2, "these tests need two NICs a side")
	require.NoError(t, lab.Heal())
	t.Cleanup(func() { assert.NoError(t, lab.Heal()) })

	p := &probe{lab: lab, conns: make(map[string]*net.UDPConn), arrived: make(map[pair]int)}
	names := make(map[netip.Addr]string)
	for _, n := range lab.All() {
		names[n.Addr] = n.Device
	}
	for _, n := range lab.All() {
		conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(n.Addr, probePort)))
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		p.conns[n.Device] = conn
		go p.receive(conn, n.Device, names)
	}
	return lab, p
}

const probePort = 7000

func (p *probe) receive(conn *net.UDPConn, to string, names map[netip.Addr]string) {
	buf := make([]byte, 8192)
	for {
		_, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.arrived[pair{names[from.Addr()], to}]++
		p.mu.Unlock()
	}
}

// send sends one datagram; an error stands for a lost one.
func (p *probe) send(from, to NIC, size int) {
	_, _ = p.conns[from.Device].WriteToUDPAddrPort(make([]byte, size), netip.AddrPortFrom(to.Addr, probePort))
}

func (p *probe) count(from, to NIC) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.arrived[pair{from.Device, to.Device}]
}

func (p *probe) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.arrived)
}

// expectCut checks that exactly the pairs for which cut is true are cut. Those
// are sent first, so what comes through there has come when the rest is in.
func (p *probe) expectCut(t *testing.T, why string, cut func(from, to NIC) bool) {
	t.Helper()
	p.reset()
	var open, closed [][2]NIC
	for _, from := range p.lab.All() {
		for _, to := range p.lab.All() {
			switch {
			case from.Device == to.Device:
			case cut(from, to):
				closed = append(closed, [2]NIC{from, to})
			default:
				open = append(open, [2]NIC{from, to})
			}
		}
	}
	for _, c := range closed {
		p.send(c[0], c[1], 100)
	}
	for range 3 {
		for _, o := range open {
			p.send(o[0], o[1], 100)
		}
	}
	for _, o := range open {
		require.Eventually(t, func() bool { return p.count(o[0], o[1]) == 3 }, patience, 2*time.Millisecond,
			"%s: %v must reach %v", why, o[0], o[1])
	}
	for _, c := range closed {
		assert.Zero(t, p.count(c[0], c[1]), "%s: %v must not reach %v", why, c[0], c[1])
	}
}

func nothing(NIC, NIC) bool { return false }

func TestGuestDevicesAndPairs(t *testing.T) {
	lab, p := openLab(t)
	out, err := runTool("ibv_devices")
	require.NoError(t, err)
	var listed, expected []string
	for _, word := range strings.Fields(out) {
		if strings.HasPrefix(word, "rx") {
			listed = append(listed, word)
		}
	}
	for _, n := range lab.All() {
		expected = append(expected, n.Device)
		assert.Positive(t, n.GIDIndex, "the GID of %v's address comes after the default GID", n)
	}
	assert.ElementsMatch(t, expected, listed, "libibverbs lists every NIC and nothing else")
	p.expectCut(t, "without a fault", nothing)
}

func TestGuestDrops(t *testing.T) {
	lab, p := openLab(t)
	from, to := lab.A[0], lab.B[1]
	onlyPair := func(f, t NIC) bool { return f.Device == from.Device && t.Device == to.Device }
	tests := []struct {
		name  string
		make  func(from, to NIC) (Undo, error)
		clear func(from, to NIC) error
	}{
		{"block", lab.Block, lab.Unblock},
		{"black hole", lab.BlackHole, lab.ClearBlackHole},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			undo, err := tt.make(from, to)
			require.NoError(t, err)
			p.expectCut(t, "with the fault", onlyPair)
			second, err := tt.make(from, to)
			require.NoError(t, err, "the fault may be made again")
			require.NoError(t, undo())
			require.NoError(t, undo(), "undo may be called again")
			p.expectCut(t, "as long as one fault is left", onlyPair)
			require.NoError(t, second())
			p.expectCut(t, "after the last undo", nothing)
			undone := make(chan error)
			for range 4 {
				undo, err := tt.make(from, to)
				require.NoError(t, err)
				go func() { undone <- undo() }()
			}
			for range 4 {
				require.NoError(t, <-undone, "undo of several at once")
			}
			p.expectCut(t, "after all of them", nothing)

			_, err = tt.make(from, to)
			require.NoError(t, err)
			p.expectCut(t, "with the fault made anew", onlyPair)
			require.NoError(t, tt.clear(from, to))
			require.NoError(t, tt.clear(from, to), "there is nothing left to clear, which is no error")
			p.expectCut(t, "after clearing", nothing)
		})
	}
	both := [][2]NIC{{from, to}, {lab.B[0], lab.A[1]}}
	require.NoError(t, lab.BlockAll(both))
	require.NoError(t, lab.BlockAll(both), "the fault may be made again")
	p.expectCut(t, "with both pairs blocked", func(f, t NIC) bool {
		return onlyPair(f, t) || f.Device == lab.B[0].Device && t.Device == lab.A[1].Device
	})
	require.NoError(t, lab.UnblockAll(both[1:]))
	p.expectCut(t, "with one of them left", onlyPair)
	assert.Error(t, lab.UnblockAll(both[1:]), "there is nothing left to clear")
	require.NoError(t, lab.UnblockAll(both[:1]))
	p.expectCut(t, "after clearing both", nothing)
	require.NoError(t, lab.BlockAll(nil), "no pairs are no fault")

	_, err := lab.Block(from, from)
	assert.ErrorContains(t, err, "with itself")
	assert.ErrorContains(t, lab.BlockAll([][2]NIC{{from, to}, {to, to}}), "with itself")
	other := newNIC(0, MaxNICs-1)
	_, err = lab.Block(from, other)
	assert.ErrorContains(t, err, other.Device, "the error names the unknown device")
}

func TestGuestLink(t *testing.T) {
	lab, p := openLab(t)
	nic := lab.A[1]
	undo, err := lab.LinkDown(nic)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return nic.ready(sysfsRDMA) != nil }, patience, 10*time.Millisecond,
		"the port of %v must leave ACTIVE", nic)
	for _, n := range lab.All() {
		if n.Device != nic.Device {
			assert.NoError(t, n.ready(sysfsRDMA), "only the port of %v goes down", nic)
		}
	}
	p.expectCut(t, "link down", func(f, t NIC) bool { return f.Device == nic.Device || t.Device == nic.Device })
	require.NoError(t, undo())
	require.NoError(t, lab.waitReady(patience))
	p.expectCut(t, "link up again", nothing)
	index, err := nic.findGID(sysfsRDMA)
	require.NoError(t, err)
	assert.Equal(t, nic.GIDIndex, index, "the GID keeps its index over down and up")
}

func TestGuestLoss(t *testing.T) {
	lab, p := openLab(t)
	nic := lab.B[0]
	all, err := lab.Loss(nic, 100)
	require.NoError(t, err)
	p.expectCut(t, "all lost", func(_, t NIC) bool { return t.Device == nic.Device })
	require.NoError(t, all())
	p.expectCut(t, "no loss", nothing)

	half, err := lab.Loss(nic, 50)
	require.NoError(t, err)
	p.reset()
	const sent = 200
	for range sent {
		p.send(lab.A[0], nic, 100)
	}
	require.Eventually(t, func() bool { return p.count(lab.A[0], nic) > sent/10 }, patience, 2*time.Millisecond,
		"half of the packets must come through")
	require.NoError(t, half())
	assert.Less(t, p.count(lab.A[0], nic), sent*9/10, "half of the packets must be lost")
	for _, percent := range []float64{0, -1, 100.5} {
		_, err := lab.Loss(nic, percent)
		assert.ErrorContains(t, err, "give more than 0 and at most 100")
	}
}

// arrival returns how long n datagrams of the size take until the last arrives.
func (p *probe) arrival(t *testing.T, from, to NIC, n, size int) time.Duration {
	t.Helper()
	p.reset()
	begin := time.Now()
	for range n {
		p.send(from, to, size)
	}
	require.Eventually(t, func() bool { return p.count(from, to) == n }, patience, time.Millisecond,
		"%d datagrams from %v must reach %v", n, from, to)
	return time.Since(begin)
}

func TestGuestDelayAndRate(t *testing.T) {
	lab, p := openLab(t)
	from, nic := lab.A[0], lab.B[1]
	const delay = 300 * time.Millisecond
	undoDelay, err := lab.Delay(nic, delay)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, p.arrival(t, from, nic, 1, 100), delay, "the delay holds towards the NIC")

	undoRate, err := lab.Rate(nic, 1, 1000)
	require.NoError(t, err)
	const n, size = 20, 4000
	wire := time.Duration(n*size*8) * time.Microsecond // at 1 Mbit/s
	assert.GreaterOrEqual(t, p.arrival(t, from, nic, n, size), wire, "the rate holds beside the delay")
	require.NoError(t, undoDelay())
	q, err := runTool("tc", "qdisc", "show", "dev", nic.port)
	require.NoError(t, err)
	assert.Contains(t, q, "rate 1Mbit", "the end of the delay leaves the rate")
	assert.NotContains(t, q, "delay", "the delay has ended")
	require.NoError(t, undoRate())

	_, err = lab.Rate(nic, 1, 5)
	require.NoError(t, err)
	p.reset()
	for range 50 {
		p.send(from, nic, size)
	}
	waiting, err := lab.Backlog(nic)
	require.NoError(t, err)
	assert.Positive(t, waiting.Packets, "at 1 Mbit/s a packet takes 32 ms")
	assert.LessOrEqual(t, waiting.Packets, int64(5))
	assert.Greater(t, waiting.Bytes, waiting.Packets*size)
	assert.Positive(t, waiting.Drops)
	require.Eventually(t, func() bool { return p.count(from, nic) >= 5 }, patience, time.Millisecond)
	assert.Less(t, p.count(from, nic), 50, "a queue of 5 packets cannot hold 50")
	require.NoError(t, lab.ClearQueue(nic))
	p.expectCut(t, "without delay and rate", nothing)
}

func TestGuestAddAddress(t *testing.T) {
	lab, p := openLab(t)
	nic := lab.B[0]
	addr, undo, err := lab.AddAddress(nic)
	require.NoError(t, err)
	second, _, err := lab.AddAddress(nic)
	require.NoError(t, err)
	assert.NotEqual(t, addr, second, "each call gives another address")
	added := nic
	added.Addr = addr
	require.Eventually(t, func() bool { _, err := added.findGID(sysfsRDMA); return err == nil }, patience, 10*time.Millisecond,
		"a GID of %v must appear", addr)
	require.NoError(t, undo())
	require.Eventually(t, func() bool { _, err := added.findGID(sysfsRDMA); return err != nil }, patience, 10*time.Millisecond,
		"the GID of %v must go", addr)
	p.expectCut(t, "with a further address", nothing)
}

func TestGuestHealUndoesFaultsOfOthers(t *testing.T) {
	lab, p := openLab(t)
	a, b := lab.A[0], lab.B[0]
	_, err := lab.Block(a, b)
	require.NoError(t, err)
	_, err = lab.BlackHole(b, a)
	require.NoError(t, err)
	_, err = lab.Loss(lab.B[1], 100)
	require.NoError(t, err)
	_, err = lab.LinkDown(lab.A[1])
	require.NoError(t, err)
	addr, _, err := lab.AddAddress(b)
	require.NoError(t, err)

	other, err := Current()
	require.NoError(t, err)
	require.NoError(t, other.Heal())
	require.NoError(t, other.waitReady(patience))
	p.expectCut(t, "after Heal", nothing)
	left, err := presentAddrs(b.NetDev)
	require.NoError(t, err)
	assert.NotContains(t, left[b.NetDev], addr, "Heal takes further addresses away")
}

// pingpong is a run of the example of libibverbs between two NICs.
type pingpong struct {
	output bytes.Buffer // of the client; read after done
	done   chan error   // how the client ended
}

// startPingpong starts the server and, when it listens, the client.
func startPingpong(t *testing.T, client, server NIC, port string) *pingpong {
	t.Helper()
	args := func(n NIC, more ...string) []string {
		return append([]string{"-d", n.Device, "-g", strconv.Itoa(n.GIDIndex), "-n", "20", "-p", port}, more...)
	}
	listener := exec.Command("ibv_rc_pingpong", args(server)...)
	require.NoError(t, listener.Start())
	t.Cleanup(func() {
		_ = listener.Process.Kill()
		_ = listener.Wait()
	})
	require.Eventually(t, func() bool {
		out, err := runTool("ss", "-Hltn", "sport", "=", ":"+port)
		return err == nil && out != ""
	}, patience, 20*time.Millisecond, "the server must listen")

	p := &pingpong{done: make(chan error, 1)}
	cmd := exec.Command("ibv_rc_pingpong", args(client, "127.0.0.1")...)
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	require.NoError(t, cmd.Start())
	go func() { p.done <- cmd.Wait() }()
	return p
}

// wait returns how the client ended.
func (p *pingpong) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(patience):
		require.FailNow(t, "ibv_rc_pingpong must end")
		return nil
	}
}

// TestGuestVerbs shows that the faults reach the traffic of the RDMA devices.
// The example asks for 7 retries, which rdma_rxe takes as no limit, so under a
// fault it neither fails nor ends.
func TestGuestVerbs(t *testing.T) {
	lab, _ := openLab(t)
	a, b := lab.A[0], lab.B[1]
	begin := time.Now()
	p := startPingpong(t, a, b, "18601")
	require.NoError(t, p.wait(t), "verbs must work without a fault: %s", &p.output)
	healthy := time.Since(begin)

	tests := []struct {
		name, port string
		fault      func() (Undo, error)
	}{
		{"block", "18602", func() (Undo, error) { return lab.Block(a, b) }},
		{"black hole", "18603", func() (Undo, error) { return lab.BlackHole(a, b) }},
		{"loss", "18604", func() (Undo, error) { return lab.Loss(b, 100) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			undo, err := tt.fault()
			require.NoError(t, err)
			p := startPingpong(t, a, b, tt.port)
			select {
			case err := <-p.done:
				require.Fail(t, "no work request may complete under the fault", "ended with %v: %s", err, &p.output)
			case <-time.After(2 * healthy):
			}
			require.NoError(t, undo())
			assert.NoError(t, p.wait(t), "the work request must complete after the fault: %s", &p.output)
		})
	}
}
