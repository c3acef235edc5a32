package rail

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rdmagate/rdmagate/internal/suggest"
)

// MaxFile is the largest rail file, in bytes.
const MaxFile = 1 << 20

// File pins the pairs of NICs to a peer. As JSON:
//
//	{
//	  "all":    [{"local": "mlx5_0", "remote": "mlx5_0"}, {"local": "mlx5_0", "remote": "mlx5_3"}],
//	  "direct": [{"local": "mlx5_0", "remote": "mlx5_0"}]
//	}
//
// Names are opaque and compared whole. [ParseFile] reads it.
type File struct {
	// All lists the pairs that may be used, at least one.
	All []FilePair `json:"all"`
	// Direct lists those of the same rail, which come first. Each is in All too. If
	// there are none, it goes by names and subnets, see [Match].
	Direct []FilePair `json:"direct,omitempty"`
}

// FilePair is one pair of a rail file, for all ports of the local device.
type FilePair struct {
	Local  string `json:"local"`
	Remote string `json:"remote"`
	// Line is where it stands in the file, from 1; 0 if it came from nowhere.
	Line int `json:"-"`

	broken bool // so that what is missing is not reported again
}

func (p FilePair) names() names { return names{p.Local, p.Remote} }

// names is a pair of device names, as a key.
type names struct{ local, remote string }

func (n names) String() string { return fmt.Sprintf("%.40q to %.40q", n.local, n.remote) }

// pins is a file to look pairs up in.
type pins struct{ all, direct map[names]bool }

// pins returns nil for no file.
func (f *File) pins() *pins {
	if f == nil {
		return nil
	}
	set := func(list []FilePair) map[names]bool {
		found := make(map[names]bool, len(list))
		for _, p := range list {
			found[p.names()] = true
		}
		return found
	}
	return &pins{set(f.All), set(f.Direct)}
}

// Validate reports every fault of the file, joined into one error, or nil. Whether
// the NICs exist is for [File.Check].
func (f *File) Validate() error {
	var faults fileFaults
	f.validate(&faults)
	return faults.err()
}

func (f *File) validate(faults *fileFaults) {
	if len(f.All) == 0 {
		faults.add(0, `"all" has no pair, so nothing could be used; list the pairs, or do without the file`)
	}
	all, broken := validatePairs("all", f.All, faults)
	direct, _ := validatePairs("direct", f.Direct, faults)
	if broken {
		return // a direct pair may be one of those that could not be read
	}
	for i, p := range f.Direct {
		if _, listed := all[p.names()]; !listed && direct[p.names()] == i && !p.broken {
			faults.add(p.Line, `direct[%d]: %v is not in "all"; add it there, or take it out here`, i, p.names())
		}
	}
}

// validatePairs returns the place of each pair, and whether some are broken.
func validatePairs(list string, pairs []FilePair, faults *fileFaults) (at map[names]int, broken bool) {
	at = make(map[names]int, len(pairs))
	for i, p := range pairs {
		if p.broken {
			broken = true
			continue
		}
		for _, err := range []error{checkName("local device", p.Local, 1), checkName("remote device", p.Remote, 1)} {
			if err != nil {
				faults.add(p.Line, "%s[%d]: %s", list, i, strings.TrimPrefix(err.Error(), "rail: "))
			}
		}
		first, repeated := at[p.names()]
		if !repeated {
			at[p.names()] = i
			continue
		}
		where := ""
		if pairs[first].Line > 0 {
			where = fmt.Sprintf(" of line %d", pairs[first].Line)
		}
		faults.add(p.Line, "%s[%d]: %v repeats %s[%d]%s; list it once", list, i, p.names(), list, first, where)
	}
	return at, broken
}

// Check reports the names in the file that no NIC has, joined into one error, or
// nil. A NIC that is unusable does exist.
func (f *File) Check(local, remote []NIC) error {
	var faults fileFaults
	mine, theirs := deviceNames(local), deviceNames(remote)
	told := map[names]bool{}
	check := func(i int, line int, of names, side string, known []string) {
		name := of.local + of.remote // one of them is empty
		if told[of] || slices.Contains(known, name) {
			return
		}
		told[of] = true
		hint := ""
		if !faults.full() { // it takes a while for many names
			hint = suggest.For(name, known)
		}
		faults.add(line, "all[%d]: no %s NIC is named %.40q; %s", i, side, name, hint)
	}
	for i, p := range f.All {
		check(i, p.Line, names{local: p.Local}, "local", mine)
		check(i, p.Line, names{remote: p.Remote}, "remote", theirs)
	}
	return faults.err()
}

func deviceNames(nics []NIC) []string {
	var all []string
	for i := range nics {
		all = append(all, nics[i].Name)
	}
	return all
}

// maxFileFaults is how many faults of a file are told one by one.
const maxFileFaults = 20

// fileFaults collects the faults of a file.
type fileFaults struct {
	told []fileFault
	more int
}

type fileFault struct {
	line int // 0 if it is of no line
	err  error
}

// full reports whether further faults are only counted.
func (f *fileFaults) full() bool { return len(f.told) == maxFileFaults }

func (f *fileFaults) add(line int, format string, args ...any) {
	if f.full() {
		f.more++
		return
	}
	where := "rail file: "
	if line > 0 {
		where += fmt.Sprintf("line %d: ", line)
	}
	f.told = append(f.told, fileFault{line, fmt.Errorf(where+format, args...)})
}

// err joins the faults, by line.
func (f *fileFaults) err() error {
	slices.SortStableFunc(f.told, func(a, b fileFault) int { return cmp.Compare(a.line, b.line) })
	var all []error
	for _, fault := range f.told {
		all = append(all, fault.err)
	}
	if f.more > 0 {
		all = append(all, fmt.Errorf("rail file: and %d more faults", f.more))
	}
	return errors.Join(all...)
}
