package pages

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// each calls f for every file of the repository with that name or ending.
func each(t *testing.T, tree fs.FS, end string, f func(name string)) {
	found := 0
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); d.IsDir() && name != "." && (base[0] == '.' || base == "bin" || base == "testdata") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(name, end) {
			found++
			f(name)
		}
		return nil
	}))
	require.NotZero(t, found, "there is no %s", end)
}

// TestPages: links, commands and code of all Markdown files.
func TestPages(t *testing.T) {
	tree := os.DirFS("../..")
	each(t, tree, ".md", func(name string) {
		for _, f := range checkLinks(tree, name) {
			t.Error(f)
		}
		text, err := fs.ReadFile(tree, name)
		require.NoError(t, err)
		p := read(string(text))
		for _, c := range p.commands {
			assert.NoError(t, checkCommand(tree, c), "%s: %s", name, c)
		}
		for _, c := range p.code {
			assert.Empty(t, checkCode(tree, c), "%s:\n%s", name, c)
		}
	})
}

// TestPackageDocumentation: the commands in it. They are for the root of the repository.
func TestPackageDocumentation(t *testing.T) {
	tree := os.DirFS("../..")
	each(t, tree, "doc.go", func(name string) {
		text, err := fs.ReadFile(tree, name)
		require.NoError(t, err)
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		for _, line := range codeLines(f) {
			assert.NoError(t, checkCommand(tree, line), "%s: %s", name, line)
		}
	})
}

func codeLines(f *ast.File) (lines []string) {
	for _, b := range new(comment.Parser).Parse(f.Doc.Text()).Content {
		if c, ok := b.(*comment.Code); ok {
			lines = append(lines, strings.Split(c.Text, "\n")...)
		}
	}
	return lines
}

// small is a repository with one page, on which everything is right.
func small() fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"README.md": file("# Gate\n\n[how](cmd/gate), ![picture](cmd/picture.svg), [limits](#its-limits-20), [more](MORE.md#more-1), [web](https://example.com)\n\n" +
			"    make demo FABRIC=sim   # shows it\n    go run ./cmd/gate -wide -size=3 > out\n\n`go -C cmd test ./...` and `make test`\n\n" +
			"```go\nd := route.TryAcquire(&s.permit)\nfmt.Println(cc.Admit)\n```\n\n## Its limits: \"2.0\"\n"),
		"MORE.md":                      file("## More\n\n## More\n"),
		"Makefile":                     file("FABRIC ?= auto\n.PHONY: test demo\ntest: vet\n\tgo test\nvet demo:\n\ttrue\n"),
		"cmd/gate/main.go":             file("// Gate.\npackage main\n\nvar wide = flag.Bool(\"wide\", false, \"\")\nvar size = flag.Int(\"size\", 0, \"\")\n"),
		"cmd/lib/lib.go":               file("// Package lib.\npackage lib\n"),
		"cmd/picture.svg":              file("<svg/>"),
		"internal/api/exported/cc.txt": file("package cc\n\nconst Admit = 1\n\nfunc (r *Route) TryAcquire(p *Permit) Decision\n"),
	}
}

func faults(tree fs.FS) string {
	list := checkLinks(tree, "README.md")
	text, _ := fs.ReadFile(tree, "README.md")
	p := read(string(text))
	for _, c := range p.commands {
		if err := checkCommand(tree, c); err != nil {
			list = append(list, err.Error())
		}
	}
	for _, c := range p.code {
		list = append(list, checkCode(tree, c)...)
	}
	return strings.Join(list, "\n")
}

// Every kind of fault is found, and nothing else.
func TestFaults(t *testing.T) {
	require.Empty(t, faults(small()))
	for want, change := range map[string][2]string{
		"README.md: the link cmd/gates leads to no file":         {"(cmd/gate)", "(cmd/gates)"},
		"README.md: the link cmd/image.svg leads to no file":     {"picture.svg", "image.svg"},
		"README.md: the link ../x leads to no file":              {"(cmd/gate)", "(../x)"},
		"README.md: the link #limits leads to no heading":        {"(#its-limits-20)", "(#limits)"},
		"README.md: the link MORE.md#more-2 leads to no heading": {"MORE.md#more-1", "MORE.md#more-2"},
		"the Makefile has no target demos":                       {"make demo ", "make demos "},
		"the Makefile has no target tests":                       {"`make test`", "`make tests`"},
		"the Makefile has no variable CLOTH":                     {"FABRIC=sim", "CLOTH=sim"},
		"there is no package in cmd/door":                        {"go run ./cmd/gate", "go run ./cmd/door"},
		"there is no directory door":                             {"go -C cmd test", "go -C door test"},
		"cmd/lib is no program":                                  {"go run ./cmd/gate -wide -size=3", "go run ./cmd/lib"},
		"cmd/gate has no flag -high":                             {"-wide", "-high"},
		"cmd/gate has no flag -length":                           {"-size=3", "-length=3"},
		"TryAsk is no exported name of any public package":       {"route.TryAcquire", "route.TryAsk"},
		"Admits is no exported name of cc":                       {"cc.Admit", "cc.Admits"},
		"code:3:32: missing ','":                                 {"s.permit)\n", "s.permit\n"},
	} {
		t.Run(want, func(t *testing.T) {
			tree := small()
			text := string(tree["README.md"].Data)
			require.Contains(t, text, change[0])
			tree["README.md"] = &fstest.MapFile{Data: []byte(strings.Replace(text, change[0], change[1], 1))}
			list := strings.Split(faults(tree), "\n")
			require.NotEmpty(t, list)
			assert.Contains(t, list[0], want)
		})
	}
}
