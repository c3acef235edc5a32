package linear

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Packages whose atomic operations and locks become turns, and what they import
// instead of the standard packages.
var (
	interleaved = []string{"cc", "rail", "taskstate", "classify"}
	imports     = strings.NewReplacer(
		`"sync/atomic"`, `"github.com/rdmagate/rdmagate/internal/linear/turns/atomic"`,
		`"sync"`, `"github.com/rdmagate/rdmagate/internal/linear/turns/sync"`,
	)
)

// The same as TestAdmission, with goroutines that stop at each atomic operation.
func TestAdmissionInTurns(t *testing.T) {
	args := []string{"test", "-count", "1", "-v", "-run", "^(TestAdmission|TestSeedDecides)$", "-overlay", overlay(t)}
	if testing.Short() {
		args = append(args, "-short")
	}
	if d := flag.Lookup("test.timeout"); d != nil {
		args = append(args, "-timeout", d.Value.String())
	}
	args = append(args, ".", "-args", "-turns")
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	out, err := exec.Command("go", args...).CombinedOutput()
	t.Logf("go %s\n%s", strings.Join(args, " "), out)
	require.NoError(t, err)
}

// overlay writes what go test needs to build those packages with other imports.
func overlay(t *testing.T) (file string) {
	dir, replace := t.TempDir(), map[string]string{}
	for _, pkg := range interleaved {
		sources, err := filepath.Glob(filepath.Join("..", "..", pkg, "*.go"))
		require.NoError(t, err)
		for _, source := range sources {
			text, err := os.ReadFile(source)
			require.NoError(t, err)
			changed := imports.Replace(string(text))
			if changed == string(text) || strings.HasSuffix(source, "_test.go") {
				continue
			}
			path, err := filepath.Abs(source)
			require.NoError(t, err)
			replace[path] = filepath.Join(dir, pkg+"_"+filepath.Base(source))
			require.NoError(t, os.WriteFile(replace[path], []byte(changed), 0o644))
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file = filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, text, 0o644))
	return file
}
