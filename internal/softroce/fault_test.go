package softroce

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQueueScript(t *testing.T) {
	const plain = "qdisc replace dev pb1 root handle 1: pfifo limit 1000"
	const netem = "qdisc replace dev pb1 root handle 2: netem limit "
	tests := []struct {
		name string
		q    queue
		want string
	}{
		{"nothing", queue{}, "qdisc del dev pb1 root"},
		{"loss", queue{loss: 2.5}, netem + "100000 loss 2.5%"},
		{"delay", queue{delay: 20 * time.Millisecond}, netem + "100000 delay 20000us"},
		{"rate", queue{mbit: 40, packets: 16}, netem + "16 rate 40000kbit"},
		{"all", queue{loss: 1, delay: time.Second, mbit: 0.5, packets: 7}, netem + "7 loss 1% delay 1000000us rate 500kbit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, []string{plain, tt.want}, tt.q.script(newNIC(1, 1)))
		})
	}
}

// A queue whose numbers change keeps its packets; any other change empties it.
func TestQueueScriptAfter(t *testing.T) {
	nic := newNIC(1, 1)
	slow := queue{mbit: 10, packets: 16}
	whole := slow.script(nic)
	assert.Equal(t, whole[1:], slow.scriptAfter(queue{mbit: 40, packets: 16}, nic), "another rate")
	assert.Equal(t, whole, slow.scriptAfter(queue{}, nic), "a rate where there was none")
	assert.Equal(t, whole, slow.scriptAfter(queue{mbit: 40, packets: 16, loss: 1}, nic), "netem would go on to lose")
	assert.Equal(t, queue{}.script(nic), queue{}.scriptAfter(queue{}, nic), "nothing after nothing")
}

func TestFaultsRefuseBadInput(t *testing.T) {
	layout, err := NewLayout(2)
	require.NoError(t, err)
	lab := newLab(layout)
	nic, stranger := lab.A[0], newNIC(0, 7)
	tests := []struct {
		name  string
		fault func() (Undo, error)
		want  string
	}{
		{"block of a pair of one", func() (Undo, error) { return lab.Block(nic, nic) }, "with itself"},
		{"block to a stranger", func() (Undo, error) { return lab.Block(nic, stranger) }, `"rxa7"`},
		{"black hole from a stranger", func() (Undo, error) { return lab.BlackHole(stranger, nic) }, `"rxa7"`},
		{"zero NIC", func() (Undo, error) { return lab.LinkDown(NIC{}) }, `""`},
		{"no loss", func() (Undo, error) { return lab.Loss(nic, 0) }, "at most 100"},
		{"loss above all", func() (Undo, error) { return lab.Loss(nic, 101) }, "at most 100"},
		{"loss not a number", func() (Undo, error) { return lab.Loss(nic, math.NaN()) }, "at most 100"},
		{"no delay", func() (Undo, error) { return lab.Delay(nic, 0) }, "1us to 1m"},
		{"no rate", func() (Undo, error) { return lab.Rate(nic, 0, 10) }, "0.001 to 100000"},
		{"rate not a number", func() (Undo, error) { return lab.Rate(nic, math.NaN(), 10) }, "0.001 to 100000"},
		{"no queue", func() (Undo, error) { return lab.Rate(nic, 10, 0) }, "0 packets"},
		{"address for a stranger", func() (Undo, error) { _, undo, err := lab.AddAddress(stranger); return undo, err }, `"rxa7"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			undo, err := tt.fault()
			assert.ErrorContains(t, err, tt.want, "refused before any tool runs")
			assert.Nil(t, undo)
		})
	}
}

func TestUndoActsOnce(t *testing.T) {
	calls := 0
	undo := once(func() error { calls++; return assert.AnError })
	assert.ErrorIs(t, undo(), assert.AnError)
	assert.ErrorIs(t, undo(), assert.AnError, "later calls report the first result")
	assert.Equal(t, 1, calls)
}

func TestAddrsFrom(t *testing.T) {
	got, err := addrsFrom("1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever\n" +
		"5: a0    inet 10.9.1.1/32 scope global a0\\       valid_lft forever\n" +
		"5: a0    inet 10.9.10.1/32 scope global a0\\       valid_lft forever\n")
	require.NoError(t, err)
	assert.Equal(t, map[string][]netip.Addr{
		"lo": {netip.MustParseAddr("127.0.0.1")},
		"a0": {netip.MustParseAddr("10.9.1.1"), netip.MustParseAddr("10.9.10.1")},
	}, got)
	_, err = addrsFrom("5: a0 inet 10.9.1/32 scope global a0\n")
	assert.ErrorContains(t, err, "10.9.1/32")
}

func TestToolErrors(t *testing.T) {
	_, err := runTool("sh", "-c", "echo no such link; exit 3")
	assert.ErrorContains(t, err, "exit status 3")
	assert.ErrorContains(t, err, "no such link", "the error carries the output")
	assert.ErrorContains(t, err, "sh -c", "the error carries the command")

	lines := []string{"link set a0 up", "link set a1 up"}
	assert.Equal(t, lines[1], failedLine("Cannot find device\nCommand failed -:2\n", lines))
	assert.Empty(t, failedLine("Command failed -:3\n", lines))
	assert.Empty(t, failedLine("something else", lines))
}

func TestCurrentOutsideGuest(t *testing.T) {
	nics, err := parseNICs("console=ttyS0 quiet softroce.nics=5 -- /x -agent")
	require.NoError(t, err)
	assert.Equal(t, 5, nics)
	_, err = parseNICs("BOOT_IMAGE=/vmlinuz root=/dev/sda1")
	assert.ErrorContains(t, err, "guestexec", "the error says how to get into a guest")
	_, err = parseNICs("softroce.nics=many")
	assert.Error(t, err)
}
