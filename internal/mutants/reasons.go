package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// reasons are what a person wrote about mutants that no test kills, by the mutants'
// keys as text.
type reasons struct {
	file string
	why  map[string]string
}

// readReasons reads such a list. Each entry is one or more lines with keys, followed by
// indented lines with the reason, which holds for all of them. # begins a comment.
func readReasons(file string) (*reasons, error) {
	r := &reasons{file: file, why: map[string]string{}}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	var keys []string
	var why []string
	end := func() error {
		if len(keys) > 0 && len(why) == 0 {
			return fmt.Errorf("%s: no reason for %s", file, keys[0])
		}
		for _, k := range keys {
			if _, twice := r.why[k]; twice {
				return fmt.Errorf("%s: twice: %s", file, k)
			}
			r.why[k] = strings.Join(why, " ")
		}
		keys, why = nil, nil
		return nil
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
			continue
		case line != text && strings.TrimLeft(line, " \t") != line:
			if len(keys) == 0 {
				return nil, fmt.Errorf("%s: a reason for nothing: %s", file, text)
			}
			why = append(why, text)
			continue
		}
		if len(why) > 0 {
			if err := end(); err != nil {
				return nil, err
			}
		}
		keys = append(keys, text)
	}
	return r, errors.Join(lines.Err(), end())
}

// faults returns what is wrong with the list: entries for mutants that there are not,
// or, if none of its mutants may be killed, that a test killed.
func (r *reasons) faults(mutants []*mutant, outcomes map[*mutant]outcome, mayDie bool) (faults []string) {
	found := map[string]bool{}
	for _, m := range mutants {
		k := m.key.String()
		found[k] = true
		if _, listed := r.why[k]; !listed || mayDie {
			continue
		}
		if o := outcomes[m]; o.fate == killed || o.fate == tookTooLong {
			faults = append(faults, fmt.Sprintf("%s: killed by %s: %s", r.file, o.by, k))
		}
	}
	for _, k := range sortedKeys(r.why) {
		if !found[k] {
			faults = append(faults, fmt.Sprintf("%s: no such mutant: %s", r.file, k))
		}
	}
	return faults
}
