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
		if err != nil || len(text) > 10_000 || strings.Count(text, "0000")+strings.Count(text, "..") > 40 || strings.Contains(text, "random") {
			return // it would only take long
		}
		if list, _ := scenario.Parse(text); length(list) > 100*time.Hour {
			return
		}
		begin := time.Now()
		_, _ = Run(r, Options{Tracer: &counter{every: 1}, Patience: time.Second})
		if took := time.Since(begin); took > time.Minute {
			t.Fatalf("it took %s", took)
		}
	})
}

// length is about how long a scenario lasts.
func length(list []scenario.Statement) (d time.Duration) {
	for i := range list {
		for _, name := range []string{"time", "takes"} {
			n, _ := list[i].Num(name)
			d += time.Duration(min(n, int64(time.Hour)*1000))
		}
		d = max(d, list[i].At)
	}
	return d
}
