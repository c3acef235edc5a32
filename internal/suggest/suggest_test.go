package suggest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"direct", "direct"}, {"Direct", "direct"}, {"driect", "direct"}, {"dirct", "direct"}, {"directs", "direct"}, {"indirect", "direct"},
		{"DIRECT", "direct"}, {"dixxct", "direct"}, {"dixxxt", ""}, {"al", "all"}, {"alll", "all"}, {"a", ""}, {"xyz", ""}, {"", ""}, {strings.Repeat("direct", 1000), ""},
	} {
		assert.Equal(t, tt.want, nearest(tt.word, []string{"all", "direct"}), "%.20q", tt.word)
	}
	for _, tt := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "bc", 1}, {"kitten", "sitting", 3}, {"mlx5_1", "mlx5_10", 1}} {
		assert.Equal(t, tt.n, edits(tt.a, tt.b), "%q to %q", tt.a, tt.b)
		assert.Equal(t, tt.n, edits(tt.b, tt.a), "%q to %q", tt.b, tt.a)
	}
}

func TestFor(t *testing.T) {
	assert.Equal(t, `did you mean "acquire"?`, For("aquire", []string{"acquire", "advance"}))
	assert.Equal(t, "there is none", For("x", nil))
	assert.Equal(t, `there is "a", "b"`, For("else", []string{"a", "b"}))
	assert.Contains(t, For("else", []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}), "2 more")
}
