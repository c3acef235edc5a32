package api

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// module is the path of the root module.
const module = "github.com/rdmagate/rdmagate"

// source is the documented source of one package, as one kind of build sees it.
type source struct {
	*doc.Package
	fset *token.FileSet
	// generated holds the names of files that a program wrote.
	generated map[string]bool
}

// public returns the directories of the packages under root that others may import,
// with slashes.
func public(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == root {
			return err
		}
		dir, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if name := d.Name(); name[0] == '.' || slices.Contains([]string{"bench", "bin", "examples", "internal", "testdata"}, name) {
			return fs.SkipDir
		}
		if found, _ := filepath.Glob(filepath.Join(path, "*.go")); len(found) > 0 {
			dirs = append(dirs, filepath.ToSlash(dir))
		}
		return nil
	})
	return dirs, err
}

// load reads the package in a directory under root, with the files that a build in that
// context has.
func load(ctx build.Context, root, dir string) (*source, error) {
	at := filepath.Join(root, filepath.FromSlash(dir))
	found, err := ctx.ImportDir(at, 0)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range slices.Concat(found.GoFiles, found.CgoFiles) {
		files[filepath.Join(at, name)] = nil // to be read
	}
	return parse(files, module+"/"+dir)
}

// parse documents a package of files, by name. Those without a text are read.
func parse(files map[string][]byte, path string) (*source, error) {
	s := &source{fset: token.NewFileSet(), generated: map[string]bool{}}
	var parsed []*ast.File
	for name, text := range files {
		var src any
		if text != nil {
			src = text
		}
		f, err := parser.ParseFile(s.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.generated[name] = ast.IsGenerated(f)
		parsed = append(parsed, f)
	}
	slices.SortFunc(parsed, func(a, b *ast.File) int {
		return strings.Compare(s.fset.Position(a.Package).Filename, s.fset.Position(b.Package).Filename)
	})
	p, err := doc.NewFromFiles(s.fset, parsed, path)
	if err != nil {
		return nil, err
	}
	s.Package = p
	return s, nil
}

// place names where a node stands, for a person who is to change it.
func (s *source) place(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return fmt.Sprintf("%s/%s:%d", strings.TrimPrefix(s.ImportPath, module+"/"), filepath.Base(p.Filename), p.Line)
}
