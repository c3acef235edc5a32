package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rdmagate/rdmagate/internal/scenario"
)

// anonymiseFile writes a file with other names.
func (r *runner) anonymiseFile(src *source) int {
	a := newAnonymiser(r.key)
	status := r.rewrite(src, func(s *scenario.Statement) error {
		if !r.comments {
			a.dropComment(s)
		}
		return a.statement(s)
	})
	if status == exitTrouble {
		return status
	}
	for _, line := range a.report(r.comments, r.key != "") {
		r.say("%s: %s", src.name, line)
	}
	return status
}

// anonymiser gives names new names. What has the same name has the same new name, whatever
// it is, but for a word before it that says what it is.
type anonymiser struct {
	key      []byte
	names    map[string]string // new names, without that word
	taken    map[string]bool
	counts   map[string]int // names by what they are
	counted  map[[2]string]bool
	comments int
	dates    int
	kept     map[string]bool // labels that were kept
	reclaims bool            // there is a reclaim
}

func newAnonymiser(key string) *anonymiser {
	a := &anonymiser{
		key: []byte(key), names: map[string]string{}, taken: map[string]bool{},
		counts: map[string]int{}, counted: map[[2]string]bool{}, kept: map[string]bool{},
	}
	if key == "" {
		a.key = []byte(rand.Text())
	}
	return a
}

// hidden says what the names that a parameter holds are. A parameter that is not in it and
// holds a name is one that the language got since.
var hidden = map[string]string{
	"peer": "peer", "incarnation": "incarnation", "device": "nic", "remote": "nic",
	"permit": "task", "task": "task", "route": "route", "worker": "worker", "pauses": "table", "poller": "poller",
	"high": "route", "low": "route", "neutral": "route",
	"program": "program", "name": "case", "text": "remark",
}

// dropped are parameters that are left out: they cannot be given another name.
var dropped = map[string]bool{"started": true}

func (a *anonymiser) dropComment(s *scenario.Statement) {
	if s.HasComment {
		a.comments++
		s.Comment, s.HasComment = "", false
	}
}

// statement rewrites one.
func (a *anonymiser) statement(s *scenario.Statement) (err error) {
	a.reclaims = a.reclaims || s.Kind == scenario.Reclaim
	if s.Args, err = a.args(s.Args); err != nil {
		return err
	}
	s.Answer, err = a.args(s.Answer)
	return err
}

func (a *anonymiser) args(list []scenario.Arg) ([]scenario.Arg, error) {
	if !slices.ContainsFunc(list, holdsName) {
		return list, nil
	}
	var out []scenario.Arg
	for _, arg := range list {
		what, known := hidden[arg.Param.Name]
		switch {
		case dropped[arg.Param.Name]:
			a.dates++
		case arg.Param.Type != scenario.Label && arg.Param.Type != scenario.String:
			out = append(out, arg)
		case !known:
			return nil, fmt.Errorf("%s holds a name, and -anonymise has no rule for it; leave it out of the file", arg.Param.Name)
		case arg.Param.Type == scenario.String:
			if arg.Text != "" && !(what == "remark" && plainRemark(arg.Text)) {
				arg.Text = a.name(what, arg.Text)
			}
			out = append(out, arg)
		case neutral(arg.Text):
			a.kept[what] = true
			out = append(out, arg)
		default:
			for id := range scenario.IDs([]scenario.Arg{arg}) {
				arg.Text, arg.Num = a.name(what, id.String()), 0
				out = append(out, arg)
			}
		}
	}
	return out, nil
}

// holdsName reports whether an argument may have to be rewritten.
func holdsName(arg scenario.Arg) bool {
	return arg.Text != "" || arg.Param.Type == scenario.Label || dropped[arg.Param.Name]
}

// letters is the alphabet of new names.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// name returns the new name of something.
func (a *anonymiser) name(what, old string) string {
	if known := [2]string{what, old}; !a.counted[known] {
		a.counted[known] = true
		a.counts[what]++
	}
	code := a.names[old]
	if code == "" {
		mac := hmac.New(sha256.New, a.key)
		mac.Write([]byte(old))
		all := letters.EncodeToString(mac.Sum(nil))
		for n := 8; code == "" || a.taken[code]; n++ { // two that begin alike are told apart
			code = all[:n]
		}
		a.names[old], a.taken[code] = code, true
	}
	return what + "-" + code
}

// neutral reports whether a label says nothing: a letter or a word of the language, and a
// number, as the recorder gives them. A number alone may be one of somebody's.
func neutral(label string) bool {
	prefix, rest, isRange := strings.Cut(label, "..")
	word := strings.TrimRight(prefix, "0123456789")
	if isRange && !strings.HasPrefix(rest, word) {
		return false
	}
	digits := len(prefix) - len(word)
	switch word {
	case "poller", "task", "route", "permit", "worker":
		return digits <= 9
	case "none", "main":
		return digits == 0
	}
	return len(word) == 1 && digits <= 9
}

// plainRemarks are those of the recorder, which hold labels and numbers only.
var plainRemarks = []*regexp.Regexp{
	regexp.MustCompile(`^r\d+ takes in the pause table: (\d+ failures|paused until [0-9.hmnsµ]+(, a trial is out)?), evidence \d+$`),
	regexp.MustCompile(`^p\d+ waits for \d+ bytes on r\d+$`),
	regexp.MustCompile(`^dumped on a transition of route \d+ at [0-9.hmnsµ]+$`),
}

func plainRemark(text string) bool {
	return slices.ContainsFunc(plainRemarks, func(r *regexp.Regexp) bool { return r.MatchString(text) })
}

// report says what was rewritten, and what was not.
func (a *anonymiser) report(comments, key bool) (lines []string) {
	var parts []string
	for what, n := range a.counts {
		parts = append(parts, count(n, what))
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	rewritten := "rewritten: " + strings.Join(parts, ", ")
	if key {
		rewritten += "; whoever has the key can try names: keep it secret"
	}
	lines = append(lines, rewritten)
	if len(a.kept) > 0 {
		var kept []string
		for what := range a.kept {
			kept = append(kept, what)
		}
		slices.Sort(kept)
		lines = append(lines, "kept: labels that are a letter and a number ("+strings.Join(kept, ", ")+")")
	}
	if a.comments > 0 {
		lines = append(lines, fmt.Sprintf("dropped: %s; -comments keeps them", count(a.comments, "comment")))
	}
	if a.dates > 0 {
		lines = append(lines, "dropped: the date at which the recording began")
	}
	lines = append(lines, "kept, look whether they may be shown: times, sizes, numbers of ports, QPs, CQs and incarnations of QPs, vendor_err, the configuration")
	if comments {
		lines = append(lines, "kept as they are: comments, with all names in them")
	}
	if a.reclaims && a.counts["task"] > 0 {
		lines = append(lines, "reclaim tears permits down in the order of their names, which is another one now")
	}
	return lines
}
