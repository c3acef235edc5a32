package rail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rdmagate/rdmagate/internal/suggest"
)

// ParseFile reads a rail file, up to [MaxFile] bytes. It is strict: what it does not
// know is a fault. The error names every fault, with line and pair, and then there
// is no File. At most 20 are told one by one.
func ParseFile(r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("rail file: %w", err)
	}
	if err := checkText(data); err != nil {
		return nil, err
	}
	p := fileParser{data: data, line: 1, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	f := p.file()
	if f != nil {
		f.validate(&p.faults)
	}
	if err := p.faults.err(); err != nil {
		return nil, err
	}
	return f, nil
}

// checkText reports what is no JSON at all.
func checkText(data []byte) error {
	switch {
	case len(data) > MaxFile:
		return fmt.Errorf("rail file: it is larger than %d bytes; is it the right file?", MaxFile)
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return errors.New("rail file: it begins with a byte order mark; save it as UTF-8 without one")
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return errors.New("rail file: it is no UTF-8 text; is it the right file?")
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("rail file: it is empty")
	}
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		before := data[:max(syntax.Offset-1, 0)]
		line := bytes.Count(before, []byte("\n"))
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
		return fmt.Errorf("rail file: line %d, column %d: %w", line+1, column+1, err)
	}
	if err != nil {
		return fmt.Errorf("rail file: %w", err)
	}
	return nil
}

// fileParser walks over a text that is known to be one JSON value.
type fileParser struct {
	data    []byte
	dec     *json.Decoder
	line    int // of the last token's beginning
	counted int // bytes that line accounts for
	faults  fileFaults
}

// end is the token after the last one.
const end = json.Delim(0)

// next returns the next token and keeps its line.
func (p *fileParser) next() json.Token {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && strings.IndexByte(" \t\r\n,:", p.data[at]) >= 0 {
		at++
	}
	p.line += bytes.Count(p.data[p.counted:at], []byte("\n"))
	p.counted = at
	token, err := p.dec.Token()
	if err != nil {
		return end
	}
	return token
}

// skip leaves out the rest of the value that begins with a token.
func (p *fileParser) skip(token json.Token) {
	for depth := 0; token != end; token = p.next() {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

// file reads the whole. It returns nil if that is no object.
func (p *fileParser) file() *File {
	token := p.next()
	if token != json.Delim('{') {
		p.faults.add(p.line, `it is %s, must be an object with "all" and "direct"`, kind(token))
		return nil
	}
	var f File
	p.fields("", []string{"all", "direct"}, func(key string, token json.Token) {
		pairs := p.pairs(key, token)
		if key == "all" {
			f.All = pairs
		} else {
			f.Direct = pairs
		}
	})
	return &f
}

// fields reads the fields of an object whose beginning was read, and hands over the
// first token of each known one.
func (p *fileParser) fields(where string, known []string, read func(key string, token json.Token)) {
	seen := map[string]bool{}
	for {
		key, more := p.next().(string)
		if !more {
			return
		}
		line := p.line
		token := p.next()
		switch {
		case !slices.Contains(known, key):
			p.faults.add(line, "%sfield %.40q is unknown; %s", where, key, suggest.For(key, known))
			p.skip(token)
		case seen[key]:
			p.faults.add(line, "%s%q is given twice; give it once", where, key)
			p.skip(token)
		default:
			seen[key] = true
			read(key, token)
		}
	}
}

// pairs reads the value of "all" or "direct".
func (p *fileParser) pairs(list string, token json.Token) []FilePair {
	if token != json.Delim('[') {
		p.faults.add(p.line, `%q is %s, must be a list of pairs`, list, kind(token))
		p.skip(token)
		return []FilePair{{Line: p.line, broken: true}}
	}
	var pairs []FilePair
	for {
		token := p.next()
		if token == json.Delim(']') || token == end {
			return pairs
		}
		pairs = append(pairs, p.pair(fmt.Sprintf("%s[%d]: ", list, len(pairs)), token))
	}
}

func (p *fileParser) pair(where string, token json.Token) FilePair {
	pair := FilePair{Line: p.line}
	fault := func(line int, format string, args ...any) {
		p.faults.add(line, where+format, args...)
		pair.broken = true
	}
	if token != json.Delim('{') {
		fault(p.line, `it is %s, must be {"local": name, "remote": name}`, kind(token))
		p.skip(token)
		return pair
	}
	missing := map[string]bool{"local": true, "remote": true}
	p.fields(where, []string{"local", "remote"}, func(key string, token json.Token) {
		missing[key] = false
		name, isText := token.(string)
		switch {
		case !isText:
			fault(p.line, "%q is %s, must be a name in quotes", key, kind(token))
			p.skip(token)
		case strings.ContainsRune(name, utf8.RuneError):
			fault(p.line, "%q holds U+FFFD, which stands for what is no text; no device has such a name", key)
		case key == "local":
			pair.Local = name
		default:
			pair.Remote = name
		}
	})
	for _, key := range []string{"local", "remote"} {
		if missing[key] {
			fault(pair.Line, "%q is missing", key)
		}
	}
	return pair
}

// kind names what a value begins with.
func kind(token json.Token) string {
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return "a list"
		}
		return "an object"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}
