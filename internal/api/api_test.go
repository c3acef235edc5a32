package api

import (
	"flag"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

var update = flag.Bool("update", false, "write the files in exported")

// kinds are the builds in which the API has to be the same, the usual one first.
var kinds = []struct {
	name   string
	change func(*build.Context)
}{
	{"linux", func(*build.Context) {}},
	{"linux without cgo", func(c *build.Context) { c.CgoEnabled = false }},
	{"darwin", func(c *build.Context) { c.GOOS, c.GOARCH = "darwin", "arm64" }},
	{"windows", func(c *build.Context) { c.GOOS, c.CgoEnabled = "windows", false }},
	{"tag rdmagate_off", func(c *build.Context) { c.BuildTags = []string{"rdmagate_off"} }},
}

// sources reads a package as each kind of build sees it.
func sources(t *testing.T, dir string) (list []*source) {
	for _, kind := range kinds {
		ctx := build.Default
		ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = "linux", "amd64", true
		kind.change(&ctx)
		s, err := load(ctx, root, dir)
		require.NoError(t, err)
		list = append(list, s)
	}
	return list
}

// TestExported: the API of each public package is the one in its file, in every build.
func TestExported(t *testing.T) {
	dirs, err := public(root)
	require.NoError(t, err)
	require.Contains(t, dirs, "rail/discover")
	kept := map[string]bool{}
	for _, dir := range dirs {
		t.Run(dir, func(t *testing.T) {
			file := filepath.Join("exported", filepath.FromSlash(dir)+".txt")
			kept[file] = true
			list := sources(t, dir)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(list[0].text()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "a package that is new: run make generate and commit the file")
			for i, s := range list {
				if text := s.text(); text != string(want) {
					t.Fatalf("the exported API of %s has changed (build: %s):\n\t%s\nIf that was not meant, take it back. "+
						"If it was, run make generate and commit internal/api/%s with it.", dir, kinds[i].name, strings.Join(changes(string(want), text), "\n\t"), file)
				}
			}
		})
	}
	require.NoError(t, filepath.WalkDir("exported", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !kept[path] {
			t.Errorf("internal/api/%s is of a package that is gone: remove it", path)
		}
		return err
	}))
}

// TestComments: every exported name has a comment that says more than the name, and doc
// links lead somewhere.
func TestComments(t *testing.T) {
	dirs, err := public(root)
	require.NoError(t, err)
	known := map[string]*source{}
	for _, dir := range dirs {
		s := sources(t, dir)[0]
		known[s.ImportPath] = s
	}
	for _, s := range known {
		for _, f := range s.faults(known) {
			t.Error(f)
		}
	}
}

const example = `// Package gate admits.
package gate

import "errors"

// ErrFull is returned by [Gate.Ask] when there is no room.
var ErrFull = errors.New("full")

// The kinds.
const (
	Small = iota // small
	Large        // large
)

// Gate admits bytes, see [Gate.Ask].
type Gate struct {
	// Room is how many more it takes.
	Room   int64
	asked  int
}

// Ask reserves n bytes.
func (g *Gate) Ask(n int64) error {
	g.asked++
	return nil
}
`

func one(t *testing.T, text string) *source {
	s, err := parse(map[string][]byte{"gate.go": []byte(text)}, module+"/gate")
	require.NoError(t, err)
	return s
}

// The text has what others can use, and nothing else.
func TestText(t *testing.T) {
	const want = `package gate

const (
	Small = iota
	Large
)

var ErrFull = errors.New("full")

type Gate struct {
	Room int64
	// contains filtered or unexported fields
}

func (g *Gate) Ask(n int64) error
`
	assert.Equal(t, want, one(t, example).text())
	for name, change := range map[string][2]string{
		"comment":    {"reserves n bytes", "takes n bytes"},
		"body":       {"g.asked++", "g.asked += 2"},
		"unexported": {"asked ", "called"},
	} {
		require.Contains(t, example, change[0], name)
		assert.Equal(t, want, one(t, strings.ReplaceAll(example, change[0], change[1])).text(), "%s is no change of the API", name)
	}
	for name, change := range map[string][2]string{
		"parameter": {"Ask(n int64)", "Ask(n int)"},
		"field":     {"Room   int64", "Room   uint64"},
		"constant":  {"Large ", "Huge "},
		"new name":  {"// Ask", "// Leave gives back what Ask reserved.\nfunc (g *Gate) Leave() {}\n\n// Ask"},
	} {
		require.Contains(t, example, change[0], name)
		assert.NotEqual(t, want, one(t, strings.ReplaceAll(example, change[0], change[1])).text(), "%s is a change of the API", name)
	}
}

// A change is told with the declaration that it is in.
func TestChanges(t *testing.T) {
	from := one(t, example).text()
	assert.Empty(t, changes(from, from))
	to := one(t, strings.Replace(example, "Room   int64", "Room   uint64", 1)).text()
	assert.Equal(t, []string{"- type Gate struct { ... Room int64", "+ type Gate struct { ... Room uint64"}, changes(from, to))
	order := strings.Replace(from, "\tSmall = iota\n\tLarge\n", "\tLarge\n\tSmall = iota\n", 1)
	require.NotEqual(t, from, order)
	assert.Len(t, changes(from, order), 1)
}

// Every kind of fault is found, and nothing else.
func TestFaults(t *testing.T) {
	faults := func(text string) []string {
		s := one(t, text)
		return s.faults(map[string]*source{s.ImportPath: s})
	}
	assert.Empty(t, faults(example))
	for want, change := range map[string][2]string{
		"package gate has no comment":                                {"// Package gate admits.\n", ""},
		"gate/gate.go:7: ErrFull is exported and has no comment":     {"// ErrFull is returned by [Gate.Ask] when there is no room.\n", "\n"},
		"the comment on Small says no more than its name":            {"// The kinds.\nconst (\n\tSmall = iota // small\n\tLarge        // large", "\nconst (\n\tSmall = iota // small\n\tLarge        // so many that none fits"},
		"Gate.Ask is exported and has no comment":                    {"// Ask reserves n bytes.", ""},
		"the comment on Gate.Ask says no more than its name":         {"reserves n bytes", "asks the Gate"},
		"the comment on Gate.Room says no more than its name":        {"Room is how many more it takes", "Room of the gate"},
		"the comment on Gate says no more than its name: \"Gate is.": {"Gate admits bytes, see [Gate.Ask].", "Gate is."},
		"[Gate.Tell] leads nowhere":                                  {"see [Gate.Ask]", "see [Gate.Tell]"},
		"[Door] leads nowhere":                                       {"see [Gate.Ask]", "see [Door]"},
	} {
		t.Run(want, func(t *testing.T) {
			require.Contains(t, example, change[0])
			list := faults(strings.Replace(example, change[0], change[1], 1))
			require.Len(t, list, 1)
			assert.Contains(t, list[0], want)
		})
	}
}
