package pages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// foreign are the packages of the standard library that code on a page uses.
var foreign = map[string]bool{"expvar": true, "fmt": true, "http": true, "log": true, "os": true, "time": true}

// checkCode reports statements that do not parse, and exported names in them that no
// public package has. What packages export is in the files of internal/api.
func checkCode(tree fs.FS, code string) (faults []string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "code", "package p\nfunc _() {\n"+code+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	exported, all := map[string]string{}, ""
	err = fs.WalkDir(tree, "internal/api/exported", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		exported[strings.TrimSuffix(path.Base(name), ".txt")] = string(text)
		all += string(text)
		return err
	})
	if err != nil {
		return []string{err.Error()}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || !s.Sel.IsExported() {
			return true
		}
		of := "any public package"
		text := all
		if x, ok := s.X.(*ast.Ident); ok {
			if foreign[x.Name] {
				return true
			}
			if own, ok := exported[x.Name]; ok {
				of, text = x.Name, own
			}
		}
		if !regexp.MustCompile(`\b` + s.Sel.Name + `\b`).MatchString(text) {
			faults = append(faults, fmt.Sprintf("%s is no exported name of %s", s.Sel.Name, of))
		}
		return true
	})
	return faults
}
