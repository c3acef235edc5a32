package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// suite is the test binary of one package, built with the schemata.
type suite struct {
	spec   suiteSpec
	binary string
	dir    string // in which its tests run
	tests  []*test
}

// test is one top-level test, example or fuzz target.
type test struct {
	name    string
	suite   *suite
	cpu     time.Duration // what it takes without a mutant, on the processor
	took    time.Duration // the same, by the clock
	reached []byte        // by point, 1 if this test comes by
}

func (s *suite) String() string { return filepath.ToSlash(filepath.Join(s.spec.dir, s.spec.pkg)) }

// compile builds the test binary of a package with the schemata in place of the files.
// Nothing is written but to the folder temp.
func compile(ctx context.Context, root, temp string, code *schemata, spec suiteSpec) (*suite, error) {
	texts := map[string]string{filepath.Join(code.src.dir, "zz_mutants.go"): code.added}
	for f, text := range code.texts {
		texts[f.path] = text
	}
	if spec.turns {
		changed, err := turnsTexts(root, func(path string) (string, error) {
			if text, ok := texts[path]; ok {
				return text, nil
			}
			text, err := os.ReadFile(path)
			return string(text), err
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(texts, changed)
	}
	name := strings.NewReplacer("/", "_", ".", "_").Replace(spec.dir + spec.pkg)
	temp = filepath.Join(temp, name)
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return nil, err
	}
	replace := map[string]string{}
	for path, text := range texts {
		replace[path] = filepath.Join(temp, filepath.Base(filepath.Dir(path))+"_"+filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		return nil, err
	}
	s := &suite{spec: spec, binary: filepath.Join(temp, "tests"), dir: filepath.Join(root, spec.dir, spec.pkg)}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", file, "-o", s.binary, spec.pkg)
	cmd.Dir = filepath.Join(root, spec.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling the tests of %s: %w\n%s", s, err, out)
	}
	return s, s.list(ctx)
}

// list asks the binary for its tests.
func (s *suite) list(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, s.binary, "-test.list", ".")
	cmd.Dir = s.dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("listing the tests of %s: %w", s, err)
	}
	for _, name := range strings.Fields(string(out)) {
		if !strings.HasPrefix(name, "Benchmark") && (s.spec.only == nil || s.spec.only.MatchString(name)) {
			s.tests = append(s.tests, &test{name: name, suite: s})
		}
	}
	return nil
}

// ending is how a process of tests ended.
type ending int

const (
	passed ending = iota
	failed
	timedOut
	interrupted
)

// run runs tests of the suite in one process, in short mode, until one fails. It
// returns what a failure wrote, and the time on the processor. There is
// no alarm in the process, so that the runtime notices when all goroutines wait for
// each other.
func (s *suite) run(ctx context.Context, tests []*test, limit time.Duration, env ...string) (end ending, wrote string, cpu time.Duration) {
	var names []string
	for _, t := range tests {
		names = append(names, t.name)
	}
	args := []string{"-test.run", "^(" + strings.Join(names, "|") + ")$", "-test.failfast", "-test.short", "-test.timeout", "0"}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(within, s.binary, append(args, s.spec.args...)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with what the tests start
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out excerpt
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if p := cmd.ProcessState; p != nil {
		cpu = p.UserTime() + p.SystemTime()
	}
	switch {
	case ctx.Err() != nil:
		return interrupted, "", cpu
	case errors.Is(within.Err(), context.DeadlineExceeded):
		return timedOut, out.String(), cpu
	case err != nil:
		return failed, out.String(), cpu
	}
	return passed, "", cpu
}

// excerpt keeps the beginning of what is written to it.
type excerpt struct{ text []byte }

func (t *excerpt) Write(p []byte) (int, error) {
	if room := 16<<10 - len(t.text); room > 0 {
		t.text = append(t.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (t *excerpt) String() string { return string(t.text) }
