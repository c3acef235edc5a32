package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// FuzzRun: no text makes the runner fail in another way than with a mismatch.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob("testdata/*.scenario")
	require.NoError(f, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := scenario.NewReader(strings.NewReader(text))
		if err != nil || len(text) > 10_000 || strings.Count(text, "0000")+strings.Count(text, "..")+strings.Count(text, "wait ") > 40 || strings.Contains(text, "random") {
			return // it would only take long
		}
		begin := time.Now()
		_, _ = Run(r, Options{Tracer: &counter{every: 1}})
		if took := time.Since(begin); took > time.Minute {
			t.Fatalf("it took %s", took)
		}
	})
}
