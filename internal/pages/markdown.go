package pages

import (
	"regexp"
	"strings"
	"unicode"
)

// page is a Markdown file, taken apart as far as the checks need it.
type page struct {
	links    []string
	headings []string // their anchors
	commands []string // lines of indented blocks and of fences without Go, and inline code
	code     []string // Go
}

var (
	inlineLink = regexp.MustCompile(`\[[^\]]*\]\(\s*([^)\s]+)[^)]*\)`)
	namedLink  = regexp.MustCompile(`(?m)^\[[^\]]+\]:\s*(\S+)`)
	imageLink  = regexp.MustCompile(`(?:src|srcset|href)="([^"]+)"`)
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	hidden     = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// read takes a page apart.
func read(text string) *page {
	p := &page{}
	var prose, fence strings.Builder
	lang, fenced, blank := "", false, true
	seen := map[string]int{}
	for line := range strings.Lines(hidden.ReplaceAllString(text, "")) {
		bare := strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(bare, "```"):
			if fenced && lang == "go" {
				p.code = append(p.code, fence.String())
			} else if fenced {
				p.commands = append(p.commands, strings.Split(fence.String(), "\n")...)
			}
			fenced, lang = !fenced, strings.TrimPrefix(bare, "```")
			fence.Reset()
		case fenced:
			fence.WriteString(line)
		case strings.HasPrefix(bare, "    ") && blank:
			p.commands = append(p.commands, strings.TrimSpace(bare))
			continue // the next line may go on
		default:
			if level := len(bare) - len(strings.TrimLeft(bare, "#")); level > 0 && strings.HasPrefix(bare[level:], " ") {
				p.headings = append(p.headings, anchor(bare[level+1:], seen))
			}
			prose.WriteString(line)
		}
		blank = strings.TrimSpace(bare) == ""
	}
	for _, m := range inlineCode.FindAllStringSubmatch(prose.String(), -1) {
		p.commands = append(p.commands, m[1])
	}
	plain := inlineCode.ReplaceAllString(prose.String(), "")
	for _, pattern := range []*regexp.Regexp{inlineLink, namedLink, imageLink} {
		for _, m := range pattern.FindAllStringSubmatch(plain, -1) {
			p.links = append(p.links, m[1])
		}
	}
	return p
}

// anchor is the name that the pages of a Git host give to a heading. seen counts those
// before it.
func anchor(heading string, seen map[string]int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	name := b.String()
	n := seen[name]
	seen[name]++
	if n > 0 {
		name += "-" + string(rune('0'+n))
	}
	return name
}
