package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// schemata is the text of a package that has all of its mutants in it, and becomes one
// of them at run time. Names that begin with zz are its own.
type schemata struct {
	src     *source
	points  []*point
	mutants []*mutant
	broken  []*mutant // what did not compile, and is not in it
	texts   map[*sourceFile]string
	added   string // one more file: which mutant, and what is reached
}

// build makes the schemata of a package. What does not compile as a mutant is left out.
func build(src *source) (*schemata, error) {
	s := &schemata{src: src, points: find(src)}
	for {
		s.mutants = number(s.points)
		s.write()
		broken, err := s.check()
		if err != nil {
			return nil, err
		}
		if len(broken) == 0 {
			return s, nil
		}
		s.broken = append(s.broken, broken...)
		for _, p := range s.points {
			p.mutants = slices.DeleteFunc(p.mutants, func(m *mutant) bool { return slices.Contains(broken, m) })
		}
		s.points = slices.DeleteFunc(s.points, func(p *point) bool { return len(p.mutants) == 0 })
	}
}

func (s *schemata) write() {
	w := &writer{src: s.src, types: map[string]string{}, imports: map[string]string{}}
	s.texts = map[*sourceFile]string{}
	for _, f := range s.src.files {
		w.text, w.rest = string(f.text), nil
		for _, p := range s.points {
			if p.file == f {
				w.rest = append(w.rest, p)
			}
		}
		if len(w.rest) > 0 {
			s.texts[f] = w.span(0, len(f.text))
		}
	}
	s.added = w.added(s.src.name, len(s.mutants))
}

// writer writes the text of one file after the other.
type writer struct {
	src     *source
	text    string
	rest    []*point          // that are not written yet
	types   map[string]string // aliases of types, by how they are written in the added file
	imports map[string]string // names of the packages of those types, by path
}

// span writes a part of the file.
func (w *writer) span(start, end int) string {
	var b strings.Builder
	for len(w.rest) > 0 && w.rest[0].end <= end {
		p := w.rest[0]
		w.rest = w.rest[1:]
		b.WriteString(w.text[start:p.start])
		w.point(&b, p, w.span(p.start, p.end))
		start = p.end
	}
	b.WriteString(w.text[start:end])
	return b.String()
}

// point writes one point; inner is what it is without a mutant.
func (w *writer) point(b *strings.Builder, p *point, inner string) {
	first := p.mutants[0].id
	if !p.statement {
		fmt.Fprintf(b, "(func() %s { switch zz(%d) { ", w.typeName(p.typ), first)
		for _, m := range p.mutants {
			fmt.Fprintf(b, "case %d: return %s; ", m.id, marked(m))
		}
		fmt.Fprintf(b, "}; return %s }())", inner)
		return
	}
	// No switch: a break would end it.
	var s strings.Builder
	fmt.Fprintf(&s, "if zzz := zz(%d); ", first)
	for _, m := range p.mutants {
		fmt.Fprintf(&s, "zzz == %d { %s } else if ", m.id, marked(m))
	}
	text := strings.TrimSuffix(s.String(), "if ") + "{ " + inner + " }"
	if p.post {
		text = "func() { " + text + " }()"
	}
	b.WriteString(text)
}

// marked returns the code of a mutant between marks that tell whose it is.
func marked(m *mutant) string { return fmt.Sprintf("/*zz%d*/%s/*zz*/", m.id, m.code) }

var mark = regexp.MustCompile(`/\*zz(\d*)\*/`)

// typeName returns how a type can be written anywhere in the package: named ones get an
// alias, since a variable may hide them or the file not import them.
func (w *writer) typeName(t types.Type) string {
	switch t := t.(type) {
	case *types.Basic, *types.TypeParam:
		return t.String()
	case *types.Named:
		if t.Obj().Pkg() == w.src.pkg && t.Obj().Parent() != w.src.pkg.Scope() {
			return t.Obj().Name() // a function's own
		}
	}
	full := types.TypeString(t, func(p *types.Package) string {
		if p == w.src.pkg {
			return ""
		}
		if w.imports[p.Path()] == "" {
			w.imports[p.Path()] = fmt.Sprintf("zzp%d", len(w.imports))
		}
		return w.imports[p.Path()]
	})
	if full == "error" {
		return full
	}
	if w.types[full] == "" {
		w.types[full] = fmt.Sprintf("zzT%d", len(w.types))
	}
	return w.types[full]
}

var addedFile = template.Must(template.New("").Parse(`package {{.Name}}

import (
	"os"
	"strconv"
	"syscall"
{{- range $path, $name := .Imports}}
	{{$name}} "{{$path}}"
{{- end}}
)

type (
{{- range $type, $name := .Types}}
	{{$name}} = {{$type}}
{{- end}}
)

var zzActive, zzReached = zzStart()

// zz notes that a point was reached, and returns the mutant to be.
func zz(point int) int {
	if zzReached[point] == 0 {
		zzReached[point] = 1
	}
	return zzActive
}

// zzStart is told which mutant, and a file that shows what is reached whatever ends
// the process.
func zzStart() (active int, reached []byte) {
	if id := os.Getenv("ZZ_MUTANT"); id != "" {
		active, _ = strconv.Atoi(id)
		most := syscall.Rlimit{Cur: 8 << 30, Max: 8 << 30}
		syscall.Setrlimit(syscall.RLIMIT_AS, &most)
	}
	name := os.Getenv("ZZ_REACHED")
	if name == "" {
		return active, make([]byte, {{.Size}})
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	reached, err = syscall.Mmap(int(f.Fd()), 0, {{.Size}}, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return active, reached
}
`))

func (w *writer) added(name string, mutants int) string {
	var b bytes.Buffer
	err := addedFile.Execute(&b, map[string]any{"Name": name, "Imports": w.imports, "Types": w.types, "Size": mutants + 1})
	if err != nil {
		panic(err)
	}
	return b.String()
}

// check type-checks the schemata and returns the mutants that do not compile.
func (s *schemata) check() (broken []*mutant, err error) {
	fset := token.NewFileSet()
	texts, trees := map[string]string{}, []*ast.File(nil)
	parse := func(name, text string) {
		tree, fault := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		err = errors.Join(err, fault)
		texts[name], trees = text, append(trees, tree)
	}
	for _, f := range s.src.files {
		text, changed := s.texts[f]
		if !changed {
			text = string(f.text)
		}
		parse(f.name, text)
	}
	parse("zz_mutants.go", s.added)
	if err != nil {
		return nil, err
	}
	s.src.check(fset, trees, nil, func(fault error) {
		var at types.Error
		if !errors.As(fault, &at) {
			err = errors.Join(err, fault)
			return
		}
		where := fset.Position(at.Pos)
		if m := s.mutantAt(texts[where.Filename], where.Offset); m == nil {
			err = errors.Join(err, fault)
		} else if !slices.Contains(broken, m) {
			broken = append(broken, m)
		}
	})
	return broken, err
}

// mutantAt returns the mutant whose code is at an offset of a text, nil if none is.
func (s *schemata) mutantAt(text string, offset int) *mutant {
	marks := mark.FindAllStringSubmatch(text[:offset], -1)
	if len(marks) == 0 || marks[len(marks)-1][1] == "" {
		return nil
	}
	id, _ := strconv.Atoi(marks[len(marks)-1][1])
	return s.mutants[id-1]
}
