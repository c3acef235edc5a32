package main

import (
	"path/filepath"
	"regexp"
	"strings"
)

// target is a package to be mutated, and the tests that may tell.
type target struct {
	name   string // in the root module, as a path
	suites []suiteSpec
}

// suiteSpec is a package's tests. Those of the target itself come first.
type suiteSpec struct {
	dir, pkg string         // the module's folder in the repository, and the package there
	args     []string       // flags of its own
	only     *regexp.Regexp // which tests; nil is all
	turns    bool           // built as internal/linear builds itself for TestAdmissionInTurns
}

var (
	ofCC       = suiteSpec{pkg: "./cc"}
	ofRail     = suiteSpec{pkg: "./rail"}
	ofTasks    = suiteSpec{pkg: "./taskstate"}
	ofClassify = suiteSpec{pkg: "./classify"}
	ofRecorder = suiteSpec{pkg: "./cc/recorder"}
	ofReplay   = suiteSpec{pkg: "./internal/replay"}
	ofDiscover = suiteSpec{pkg: "./rail/discover"}
	ofHistory  = suiteSpec{
		dir: "internal/linear", pkg: ".", args: []string{"-turns"}, turns: true,
		only: regexp.MustCompile(`^(TestAdmission|TestSeedDecides)$`),
	}
)

var targets = []target{
	{"cc", []suiteSpec{ofCC, ofRecorder, ofReplay, ofHistory}},
	{"classify", []suiteSpec{ofClassify, ofTasks, ofCC}},
	{"rail", []suiteSpec{ofRail, ofDiscover, ofCC}},
	{"taskstate", []suiteSpec{ofTasks, ofCC}},
}

// The packages whose atomic operations and locks become turns, and what they import
// then; see internal/linear.
var (
	interleaved  = []string{"cc", "rail", "taskstate", "classify"}
	turnsImports = strings.NewReplacer(
		`"sync/atomic"`, `"github.com/rdmagate/rdmagate/internal/linear/turns/atomic"`,
		`"sync"`, `"github.com/rdmagate/rdmagate/internal/linear/turns/sync"`,
	)
)

// turnsTexts returns the files of those packages with the other imports, by path.
func turnsTexts(root string, read func(path string) (string, error)) (map[string]string, error) {
	texts := map[string]string{}
	for _, pkg := range interleaved {
		paths, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := read(path)
			if err != nil {
				return nil, err
			}
			if changed := turnsImports.Replace(text); changed != text {
				texts[path] = changed
			}
		}
	}
	return texts, nil
}
