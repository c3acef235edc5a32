package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
)

// tree is a made-up machine: lines of files by path, and directories, which end with a
// slash. PCI addresses are no file names that a Go module may hold, so trees are kept in
// text: sections give a directory, lines "file = text" a line of a file.
type tree map[string]string

func loadTree(t *testing.T, name string) tree {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".tree"))
	require.NoError(t, err)
	all, dir := tree{}, ""
	for i, line := range strings.Split(string(data), "\n") {
		file, text, found := strings.Cut(line, " = ")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			dir = strings.Trim(line, "[]")
			if dir != "" {
				dir += "/"
			}
		case found:
			all[dir+file] += text + "\n"
		default:
			require.True(t, strings.HasSuffix(line, "/"), "%s.tree, line %d: %q is no section, file or directory", name, i+1, line)
			all[dir+line] = ""
		}
	}
	return all
}

// set gives a file another text.
func (t tree) set(file, text string) { t[file] = text + "\n" }

// drop removes a file or a directory. It must be there.
func (t tree) drop(path string) {
	before := len(t)
	maps.DeleteFunc(t, func(name, _ string) bool { return name == path || strings.HasPrefix(name, path+"/") })
	if len(t) == before {
		panic(fmt.Sprintf("there is no %s in the tree", path))
	}
}

// files returns the part of a tree below a directory; "" is the whole.
func (t tree) files(dir string) fs.FS {
	all := fstest.MapFS{}
	for name, text := range t {
		below, found := strings.CutPrefix(name, dir)
		switch {
		case !found:
		case strings.HasSuffix(below, "/"):
			all[strings.TrimSuffix(below, "/")] = &fstest.MapFile{Mode: fs.ModeDir | 0o555}
		default:
			all[below] = &fstest.MapFile{Data: []byte(text), Mode: 0o444}
		}
	}
	return all
}

// host returns the machine, with an engine that nothing is known of.
func (t tree) host() *host {
	root := t.files("")
	return &host{
		sys:  t.files("sys/"),
		root: root,
		openNode: func(path string) error {
			_, err := fs.Stat(root, strings.TrimPrefix(path, "/"))
			return err
		},
		usage:  usage{retry: -1, timeout: -1, rnr: -1, fanIn: -1, bufferBytes: -1, registerBytes: 1 << 30},
		config: cc.DefaultConfig(),
	}
}

// example is a machine and what one check says of it.
type example struct {
	name string
	tree string // mlx5, in which all is well, if empty
	edit func(tree)
	with func(*host)
	want []string // "LEVEL where: part of what was seen", all but what is OK
	ok   string   // part of what is OK; empty if nothing is said to be
}

// runExamples runs one check on the examples.
func runExamples(t *testing.T, check func(*host) []Finding, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			if e.tree == "" {
				e.tree = "mlx5"
			}
			machine := loadTree(t, e.tree)
			if e.edit != nil {
				e.edit(machine)
			}
			h := machine.host()
			if e.with != nil {
				e.with(h)
			}
			h.look()
			findings := check(h)
			bad := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Level == OK })
			well := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Level != OK })
			require.Len(t, bad, len(e.want), "%+v", bad)
			for i, want := range e.want {
				place, seen, _ := strings.Cut(want, ": ")
				f := bad[i]
				require.Equal(t, place, strings.TrimSpace(f.Level.String()+" "+f.Where))
				require.Contains(t, f.Seen, seen)
				require.NotEmpty(t, f.Why, "a reason")
				require.NotEmpty(t, f.Fix, "a remedy")
			}
			if e.ok == "" {
				require.Empty(t, well)
				return
			}
			require.NotEmpty(t, well, "something is well")
			var texts []string
			for _, f := range well {
				texts = append(texts, f.Where+": "+f.Seen)
			}
			require.Contains(t, strings.Join(texts, "\n"), e.ok)
		})
	}
}

// fix returns the only remedy that a check has for a machine.
func fix(t *testing.T, h *host, check func(*host) []Finding) string {
	t.Helper()
	h.look()
	var fixes []string
	for _, f := range check(h) {
		if f.Fix != "" {
			fixes = append(fixes, f.Fix)
		}
	}
	require.Len(t, fixes, 1)
	return fixes[0]
}
