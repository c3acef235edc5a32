package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// TestScenarios runs every scenario of testdata, each of which has to be in the form that
// scenario.Print gives it.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.scenario")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".scenario"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			list, err := scenario.Parse(string(text))
			require.NoError(t, err)
			if printed := scenario.Print(list); os.Getenv("SCENARIO_FORMAT") != "" {
				require.NoError(t, os.WriteFile(name, []byte(printed), 0o644))
			} else {
				assert.Equal(t, printed, string(text), "run SCENARIO_FORMAT=1 go test")
			}
			result := runText(t, string(text), Options{})
			for _, m := range result.Mismatches {
				t.Error(m)
			}
			assert.Empty(t, result.Differences)
		})
	}
}

func runText(t testing.TB, text string, o Options) *Result {
	t.Helper()
	r, err := scenario.NewReader(strings.NewReader(text))
	require.NoError(t, err)
	result, err := Run(r, o)
	require.NoError(t, err)
	return result
}
