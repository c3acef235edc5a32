package api

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"regexp"
	"strings"
	"unicode"
)

// faults reports the exported names of the package that have no comment, the comments
// that say no more than the name, and the doc links that lead nowhere. known has the
// packages that links may lead to, by import path.
func (s *source) faults(known map[string]*source) (list []string) {
	c := &critic{source: s, known: known}
	c.links(s.Doc, nil)
	if empty(s.Doc, s.Name) {
		c.fault(nil, "package %s has no comment that says what it is for", s.Name)
	}
	c.values(s.Consts)
	c.values(s.Vars)
	c.funcs(s.Funcs)
	for _, t := range s.Types {
		c.name(t.Decl, t.Name, t.Doc)
		c.fields(t)
		c.values(t.Consts)
		c.values(t.Vars)
		c.funcs(t.Funcs)
		c.funcs(t.Methods)
	}
	return c.list
}

// critic collects what is wrong with the comments of a package.
type critic struct {
	*source
	known map[string]*source
	list  []string
}

func (c *critic) fault(at ast.Node, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if at != nil {
		text = c.place(at) + ": " + text
	}
	c.list = append(c.list, text)
}

// name requires that a comment says more than the name that it is on.
func (c *critic) name(at ast.Node, name, text string) {
	switch {
	case strings.TrimSpace(text) == "":
		c.fault(at, "%s is exported and has no comment", name)
	case empty(text, name):
		c.fault(at, "the comment on %s says no more than its name: %q", name, strings.TrimSpace(text))
	}
	c.links(text, at)
}

func (c *critic) funcs(list []*doc.Func) {
	for _, f := range list {
		if c.generated[c.fset.Position(f.Decl.Pos()).Filename] {
			continue // String methods
		}
		name := f.Name
		if f.Recv != "" {
			name = strings.TrimPrefix(f.Recv, "*") + "." + name
		}
		c.name(f.Decl, name, f.Doc)
	}
}

// values takes a comment on the group, or one on each name.
func (c *critic) values(list []*doc.Value) {
	for _, v := range list {
		c.links(v.Doc, v.Decl)
		for _, spec := range v.Decl.Specs {
			spec := spec.(*ast.ValueSpec)
			own := spec.Doc.Text()
			if own == "" && v.Doc == "" {
				own = spec.Comment.Text()
			}
			for _, n := range spec.Names {
				if n.IsExported() && (own != "" || v.Doc == "") {
					c.name(spec, n.Name, own)
				}
			}
		}
	}
}

// fields takes fields and methods without a comment, whose type has one. Those that have
// a comment are held to it.
func (c *critic) fields(t *doc.Type) {
	ast.Inspect(t.Decl, func(n ast.Node) bool {
		f, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		for _, n := range f.Names {
			if text := f.Doc.Text() + f.Comment.Text(); n.IsExported() && text != "" {
				c.name(f, t.Name+"."+n.Name, text)
			}
		}
		return true
	})
}

// filler are words that say nothing about the thing that is named.
var filler = regexp.MustCompile(`(?i)^(a|an|and|are|as|be|by|for|from|get|gets|has|in|is|it|its|of|on|or|return|returns|set|sets|that|the|this|to|with)$`)

// empty reports whether a comment has not one word beside fillers and those of the name.
func empty(text, name string) bool {
	said := map[string]bool{}
	for _, w := range words(name) {
		said[stem(w)] = true
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, part := range words(w) {
			if !filler.MatchString(part) && !said[stem(part)] {
				return false
			}
		}
	}
	return true
}

// words splits a name such as PortErr into port and err.
func words(name string) (list []string) {
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			list = append(list, strings.ToLower(word.String()))
		}
		word.Reset()
	}
	runes := []rune(name)
	for i, r := range runes {
		lowerBefore := i > 0 && unicode.IsLower(runes[i-1])
		lowerAfter := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && (lowerBefore || lowerAfter) {
			flush()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word.WriteRune(r)
		}
	}
	flush()
	return list
}

// stem makes closes and closed one word with close.
func stem(w string) string {
	for _, end := range []string{"ing", "es", "ed", "s", "e"} {
		if short := strings.TrimSuffix(w, end); len(short) > 2 {
			w = short
		}
	}
	return w
}

// link is what is left in brackets when a doc link could not be resolved.
var link = regexp.MustCompile(`\[\*?(?:[a-z/]+\.)?[A-Z]\w*(?:\.[A-Z]\w*)?\]`)

// links requires that each doc link in a comment leads somewhere.
func (c *critic) links(text string, at ast.Node) {
	visit(c.Parser().Parse(text).Content, func(t comment.Text) {
		switch t := t.(type) {
		case comment.Plain:
			for _, l := range link.FindAllString(string(t), -1) {
				c.fault(at, "%s leads nowhere", l)
			}
		case *comment.DocLink:
			if to := c.known[t.ImportPath]; t.Name != "" && to != nil && !to.Parser().LookupSym(t.Recv, t.Name) {
				c.fault(at, "[%s.%s] leads nowhere", to.Name, strings.TrimPrefix(t.Recv+"."+t.Name, "."))
			}
		}
	})
}

// visit calls f for all text of blocks, but for code.
func visit(blocks []comment.Block, f func(comment.Text)) {
	each := func(list []comment.Text) {
		for _, t := range list {
			f(t)
		}
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case *comment.Heading:
			each(b.Text)
		case *comment.Paragraph:
			each(b.Text)
		case *comment.List:
			for _, item := range b.Items {
				visit(item.Content, f)
			}
		}
	}
}
