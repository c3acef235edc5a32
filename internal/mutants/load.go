package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// source is a package as it is on disk: its files for the default build tags, without
// tests, and what its expressions mean.
type source struct {
	path, name, dir string
	files           []*sourceFile
	fset            *token.FileSet
	pkg             *types.Package
	info            *types.Info
	exports         map[string]string // files with the types of what it imports, by path
}

type sourceFile struct {
	name, path string
	text       []byte
	tree       *ast.File
	generated  bool
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles                       []string
	Standard, DepOnly             bool
}

// load reads the package that pattern names in the module at dir.
func load(dir, pattern string) (*source, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,Standard,DepOnly",
		pattern, "os", "strconv", "syscall") // what the added file imports
	cmd.Dir = dir
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w\n%s", pattern, err, complaint.Bytes())
	}
	s := &source{fset: token.NewFileSet(), exports: map[string]string{}}
	var found listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		s.exports[l.ImportPath] = l.Export
		if !l.Standard && !l.DepOnly {
			found = l
		}
	}
	s.path, s.name, s.dir = found.ImportPath, found.Name, found.Dir
	var trees []*ast.File
	for _, name := range found.GoFiles {
		f := &sourceFile{name: name, path: filepath.Join(s.dir, name)}
		if f.text, err = os.ReadFile(f.path); err != nil {
			return nil, err
		}
		if f.tree, err = parser.ParseFile(s.fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		f.generated = ast.IsGenerated(f.tree)
		s.files, trees = append(s.files, f), append(trees, f.tree)
	}
	s.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	var faults []error
	s.pkg = s.check(s.fset, trees, s.info, func(err error) { faults = append(faults, err) })
	return s, errors.Join(faults...)
}

// check type-checks files as this package.
func (s *source) check(fset *token.FileSet, trees []*ast.File, info *types.Info, fault func(error)) *types.Package {
	open := func(path string) (io.ReadCloser, error) { return os.Open(s.exports[path]) }
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", open), Error: fault}
	pkg, _ := conf.Check(s.path, fset, trees, info) // fault was told
	return pkg
}

// textOf returns the source text of a node.
func (s *source) textOf(f *sourceFile, n ast.Node) string {
	return string(f.text[s.offset(n.Pos()):s.offset(n.End())])
}

func (s *source) offset(p token.Pos) int { return s.fset.Position(p).Offset }
