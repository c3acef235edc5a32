package rail

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPairValidate(t *testing.T) {
	good := Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}
	longest := strings.Repeat("n", MaxName)
	tests := []struct {
		name   string
		change func(*Pair)
		fault  string // empty if there is none
	}{
		{"good", func(*Pair) {}, ""},
		{"any character", func(p *Pair) { p.Peer, p.Local, p.Remote = "a@b:c d", "\x00", "ü" }, ""},
		{"longest names", func(p *Pair) { p.Peer, p.Incarnation, p.Local, p.Remote = longest, longest, longest, longest }, ""},
		{"no peer", func(p *Pair) { p.Peer = "" }, "peer name is empty"},
		{"no local", func(p *Pair) { p.Local = "" }, "local device name is empty"},
		{"no remote", func(p *Pair) { p.Remote = "" }, "remote device name is empty"},
		{"port 0", func(p *Pair) { p.Port = 0 }, "ports count from 1"},
		{"long peer", func(p *Pair) { p.Peer = longest + "n" }, "has 256 bytes, at most 255"},
		{"long incarnation", func(p *Pair) { p.Incarnation = longest + "n" }, "incarnation name"},
		{"long local", func(p *Pair) { p.Local = longest + "n" }, "local device name"},
		{"long remote", func(p *Pair) { p.Remote = longest + "n" }, "remote device name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := good
			tt.change(&p)
			err := p.Validate()
			if tt.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.fault)
			assert.Len(t, strings.Split(err.Error(), "\n"), 1, "one fault, one line")
		})
	}
	assert.Len(t, strings.Split(Pair{}.Validate().Error(), "\n"), 4, "every fault is named")
}

// Each field tells pairs apart, and none runs into the next.
func TestPairIsAKey(t *testing.T) {
	base := Pair{Peer: "p", Incarnation: "i", Local: "l", Port: 1, Remote: "r"}
	others := []Pair{
		{"q", "i", "l", 1, "r"}, {"p", "j", "l", 1, "r"}, {"p", "i", "m", 1, "r"}, {"p", "i", "l", 2, "r"}, {"p", "i", "l", 1, "s"},
		{"pi", "", "l", 1, "r"}, {"p", "il", "", 1, "r"}, {"", "pi", "l", 1, "r"},
	}
	seen := map[Pair]bool{base: true}
	for _, o := range others {
		assert.False(t, seen[o], "%#v is a pair of its own", o)
		seen[o] = true
		assert.NotZero(t, base.Compare(o))
		assert.Equal(t, -base.Compare(o), o.Compare(base), "order of %#v", o)
	}
	assert.Zero(t, base.Compare(base))
}

func TestPairString(t *testing.T) {
	assert.Equal(t, "mlx5_0:1->host-b/mlx5_3", Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}.String())
	assert.Equal(t, "mlx5_0:1->host-b#7/mlx5_3", Pair{Peer: "host-b", Incarnation: "7", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"}.String())
}
