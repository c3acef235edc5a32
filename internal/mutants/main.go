package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "mutants:", err)
		}
		stop()
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	only    *regexp.Regexp  // of keys
	again   map[string]bool // the keys of a report; nil is all
	list    bool
	own     bool
	longest time.Duration
	all     bool   // explained mutants run all tests too
	reasons string // the folder with the lists of reasons
	workers int
	news    io.Writer
}

// picks reports whether the mutant with that key is to be run.
func (o *options) picks(key string) bool {
	return o.only.MatchString(key) && (o.again == nil || o.again[key])
}

// lines returns the lines of a file, without the white space around them.
func lines(file string) (map[string]bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		all[strings.TrimSpace(line)] = true
	}
	return all, nil
}

func run(ctx context.Context, args []string, out, news io.Writer) error {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	pkg := flags.String("pkg", "", "the only package to mutate: cc, classify, rail or taskstate")
	only := flags.String("only", "", "run the mutants whose key matches this `regexp` only")
	again := flags.String("again", "", "run the mutants whose keys this `file` has only, such as a report")
	list := flags.Bool("list", false, "list the mutants and run none")
	own := flags.Bool("own", false, "run the tests of the package itself only")
	most := flags.Duration("longest", time.Minute, "leave out tests that take longer on the processor")
	all := flags.Bool("all", false, "run all tests on mutants with a reason too, not only the quick ones of the package")
	workers := flags.Int("workers", 2, "how many processes at once")
	dir := flags.String("out", "", "write the report to mutants.md in this `folder` too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	root, err := rootOf(ctx)
	if err != nil {
		return err
	}
	opts := options{
		only: match, list: *list, own: *own, longest: *most, all: *all, reasons: filepath.Join(root, "internal", "mutants"),
		workers: max(1, *workers), news: news,
	}
	if *again != "" {
		if opts.again, err = lines(*again); err != nil {
			return err
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return *pkg != "" && t.name != *pkg })
	if len(chosen) == 0 {
		return fmt.Errorf("no package %q: cc, classify, rail or taskstate", *pkg)
	}
	var results []*result
	for _, t := range chosen {
		if ctx.Err() != nil {
			break
		}
		r, err := mutate(ctx, root, t, opts, out)
		if err != nil {
			return err
		}
		if r != nil {
			results = append(results, r)
		}
	}
	if *list {
		return nil
	}
	return finish(results, *dir, out)
}

// finish writes the report, and says whether the packages have passed.
func finish(results []*result, dir string, out io.Writer) error {
	writeReport(out, results)
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		f, err := os.Create(filepath.Join(dir, "mutants.md"))
		if err != nil {
			return err
		}
		writeReport(f, results)
		if err := f.Close(); err != nil {
			return err
		}
	}
	faults := 0
	for _, r := range results {
		faults += len(r.faults())
	}
	if faults > 0 {
		return fmt.Errorf("%d faults; see the report", faults)
	}
	return nil
}

// rootOf returns the folder of the module whose packages are mutated: this command's
// module is two folders below.
func rootOf(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(strings.TrimSpace(string(out)))))
	if _, err := os.Stat(filepath.Join(root, "internal", "mutants", "go.mod")); err != nil {
		return "", errors.New("not in the module of this command: use go -C internal/mutants run . for it")
	}
	return root, nil
}

// mutate makes the mutants of a package and judges them. The result is nil if they are
// listed only.
func mutate(ctx context.Context, root string, t target, opts options, out io.Writer) (*result, error) {
	began := time.Now()
	src, err := load(root, "./"+t.name)
	if err != nil {
		return nil, err
	}
	code, err := build(src)
	if err != nil {
		return nil, err
	}
	r := &result{pkg: t.name, mutants: code.mutants, broken: code.broken}
	chosen := slices.DeleteFunc(slices.Clone(code.mutants), func(m *mutant) bool { return !opts.picks(m.key.String()) })
	if opts.list {
		for _, m := range chosen {
			before, after := m.diff()
			fmt.Fprintf(out, "%s\n\t- %s\n\t+ %s\n", m.key, before, after)
		}
		fmt.Fprintf(out, "%s: %d mutants; %d more changes do not compile\n", t.name, len(chosen), len(code.broken))
		return nil, nil
	}
	if r.equivalent, err = readReasons(filepath.Join(opts.reasons, "equivalent", t.name+".txt")); err != nil {
		return nil, err
	}
	if r.accepted, err = readReasons(filepath.Join(opts.reasons, "accepted", t.name+".txt")); err != nil {
		return nil, err
	}
	if err := r.judge(ctx, root, code, chosen, t, opts); err != nil {
		return nil, err
	}
	r.took = time.Since(began)
	return r, nil
}

// judge compiles the tests, measures them, and runs the chosen mutants.
func (r *result) judge(ctx context.Context, root string, code *schemata, chosen []*mutant, t target, opts options) error {
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	specs := t.suites
	if opts.own {
		specs = specs[:1]
	}
	var suites []*suite
	for _, spec := range specs {
		fmt.Fprintf(opts.news, "%s: compiling and measuring the tests of %s\n", t.name, filepath.Join(spec.dir, spec.pkg))
		s, err := compile(ctx, root, temp, code, spec)
		if err != nil {
			return err
		}
		out, err := s.measure(ctx, temp, len(code.mutants), opts.workers)
		if err != nil {
			return err
		}
		s.tests = slices.DeleteFunc(s.tests, func(t *test) bool { return t.cpu > opts.longest })
		r.leftOut, suites = append(r.leftOut, out...), append(suites, s)
	}
	r.chosen = len(chosen)
	p := &progress{w: opts.news, pkg: t.name, total: len(chosen), began: time.Now(), explained: r.explained}
	quick := []*suite{suites[0].quick()}
	r.outcomes = judgeAll(ctx, func(m *mutant) []*suite {
		if r.explained(m) && !opts.all {
			return quick
		}
		return suites
	}, chosen, opts.workers, p.done)
	return nil
}
