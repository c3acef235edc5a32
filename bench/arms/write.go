package main

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	html "html/template"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// image is a plot. What it says in words is the caption.
type image struct {
	File, Title, Caption string
	png                  []byte
}

// Source returns the image itself, as the address of an image.
func (i image) Source() html.URL {
	return html.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(i.png))
}

//go:embed report.html.tmpl
var htmlText string

//go:embed report.md.tmpl
var markdownText string

// markdown returns the page as text; its plots are files beside it.
func (p page) markdown() (string, error) {
	t, err := template.New("markdown").Parse(markdownText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, p)
	return b.String(), err
}

// images are all plots.
func (p page) images() (all []*image) {
	for _, s := range append([]section{{Image: p.Overview}}, p.Sections...) {
		if s.Image != nil {
			all = append(all, s.Image)
		}
	}
	return all
}

// write writes the page into a folder, in both forms, if there is to be one.
func (p page) write(folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the report: %w", err)
	}
	for _, i := range p.images() {
		if err := os.WriteFile(filepath.Join(folder, i.File), i.png, 0o644); err != nil {
			return fmt.Errorf("cannot write a plot: %w", err)
		}
	}
	t, err := html.New("html").Parse(htmlText)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.Execute(&b, p); err != nil {
		return err
	}
	text, err := p.markdown()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"report.html": b.String(), "report.md": text} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("cannot write the report: %w", err)
		}
	}
	return nil
}
