package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/internal/suggest"
)

// mode is what is to be done to a file.
type mode uint8

const (
	modeCheck mode = iota
	modeWhatIf
	modeExplain
	modePlot
	modePrint
	modeAnonymise
)

// options are the command line.
type options struct {
	mode     mode
	verbose  bool
	set      *scenario.Statement // nil if nothing is changed
	changes  string              // the same as it was given
	route    string              // -explain
	plot     string
	print    string // text, binary or empty
	key      string
	comments bool
	caseName string
	most     int
	routes   int
	files    []string
}

// texts are the values of a flag that may be given several times.
type texts []string

func (t *texts) String() string { return strings.Join(*t, " ") }

func (t *texts) Set(value string) error {
	*t = append(*t, value)
	return nil
}

const usage = `usage: replay [flags] FILE...

  replay FILE...                      run, and compare with what is expected or was recorded
  replay -v FILE...                   with a trace
  replay -set F=V -mode M -law L FILE what if: side by side with the original
  replay -explain ROUTE FILE          the life of one route, with reasons
  replay -plot FILE.png FILE          windows, bytes in flight, states and decisions over time
  replay -print text|binary FILE      write it in that form
  replay -anonymise FILE              write it with other names

FILE is a scenario or a recording, text or binary; - is the standard input.

flags:
`

// parse reads the command line.
func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	var set texts
	var controlMode, law string
	var anonymise bool
	f := flag.NewFlagSet("replay", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are told once, by the caller
	f.BoolVar(&o.verbose, "v", false, "print each statement with what it was answered and changed")
	f.Var(&set, "set", "`field=value` of the configuration that is changed; may be given several times")
	f.StringVar(&controlMode, "mode", "", "the same as -set mode=`value`: off, observe or enforce")
	f.StringVar(&law, "law", "", "the same as -set law=`value`: epoch or round")
	f.StringVar(&o.route, "explain", "", "tell the life of a `route`: its label, or its pair as it is printed")
	f.StringVar(&o.plot, "plot", "", "draw into this `file`, .png or .svg")
	f.StringVar(&o.print, "print", "", "write it in this `form`: text or binary")
	f.BoolVar(&anonymise, "anonymise", false, "write it with other names")
	f.StringVar(&o.key, "key", "", "with -anonymise: `text` that makes new names the same in all files; keep it secret")
	f.BoolVar(&o.comments, "comments", false, "with -anonymise: keep comments")
	f.StringVar(&o.caseName, "case", "", "the `name` of the case, of a scenario that has several")
	f.IntVar(&o.most, "n", 20, "`count` of mismatches, or of places where the two part, to list")
	f.IntVar(&o.routes, "routes", 6, "`count` of routes to draw")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stderr, usage)
			f.SetOutput(stderr)
			f.PrintDefaults()
			return nil, err
		}
		return nil, fmt.Errorf("%w; replay -h lists the flags", nearFlag(f, err))
	}
	o.files = f.Args()
	if controlMode != "" {
		set = append(set, "mode="+controlMode)
	}
	if law != "" {
		set = append(set, "law="+law)
	}
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	if err := o.changesBy(set); err != nil {
		return nil, err
	}
	if err := o.choose(given, anonymise); err != nil {
		return nil, err
	}
	return o, o.validate(given)
}

// nearFlag adds to the error of a flag that there is not which one may have been meant.
func nearFlag(f *flag.FlagSet, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	var known []string
	f.VisitAll(func(fl *flag.Flag) { known = append(known, fl.Name) })
	return fmt.Errorf("flag -%s is unknown; %s", name, suggest.For(name, known))
}

// changesBy reads the fields that are changed.
func (o *options) changesBy(set texts) error {
	if len(set) == 0 {
		return nil
	}
	o.changes = set.String()
	wrong := func(why string) error {
		return fmt.Errorf("-set %s: %s", o.changes, why)
	}
	if strings.ContainsAny(o.changes, "#\n") {
		return wrong("it is field=value, such as cooldown=10s")
	}
	s, err := replay.ParseSet(o.changes)
	if err != nil {
		return wrong(strings.TrimPrefix(err.Error(), "replay: set "+o.changes+": "))
	}
	switch {
	case len(s.Args) == 0:
		return wrong("nothing is set; it is field=value, such as cooldown=10s")
	case len(s.Values("worker")) > 0:
		return wrong("worker= is not for here: it is set for all workers")
	}
	o.set = s
	return nil
}

// choose finds out what is to be done.
func (o *options) choose(given map[string]bool, anonymise bool) error {
	var chosen []string
	for _, c := range []struct {
		flag string
		mode mode
		is   bool
	}{
		{"-explain", modeExplain, given["explain"]}, {"-plot", modePlot, given["plot"]},
		{"-anonymise", modeAnonymise, anonymise}, {"-print", modePrint, given["print"] && !anonymise},
	} {
		if c.is {
			o.mode = c.mode
			chosen = append(chosen, c.flag)
		}
	}
	switch {
	case len(chosen) > 1:
		return fmt.Errorf("%s do not go together; call replay once for each", strings.Join(chosen, " and "))
	case len(chosen) == 0 && o.set != nil:
		o.mode = modeWhatIf
	}
	return nil
}

// validate checks what goes together.
func (o *options) validate(given map[string]bool) error {
	only := func(flag string, modes ...mode) error {
		for _, m := range modes {
			if o.mode == m {
				return nil
			}
		}
		if !given[flag] {
			return nil
		}
		return fmt.Errorf("-%s has no meaning here; replay -h says what it goes with", flag)
	}
	extension := strings.ToLower(filepath.Ext(o.plot))
	switch {
	case o.mode == modePlot && len(o.files) == 0 && o.plot != "" && extension != ".png" && extension != ".svg":
		return fmt.Errorf("-plot %s: the name of the picture is missing; call replay -plot PICTURE.png %s", o.plot, o.plot)
	case len(o.files) == 0:
		return errors.New("no FILE is given; give a scenario or a recording, or - for the standard input")
	case given["explain"] && o.route == "":
		return errors.New(`-explain "": the label of a route or its pair is missing`)
	case o.mode == modePlot && extension != ".png" && extension != ".svg":
		return fmt.Errorf("-plot %q: the name must end in .png or .svg, which says what it is", o.plot)
	case given["print"] && o.print != "text" && o.print != "binary":
		return fmt.Errorf("-print %q: must be text or binary", o.print)
	case o.most < 1:
		return fmt.Errorf("-n %d: must be 1 or more", o.most)
	case o.routes < 1 || o.routes > 50:
		return fmt.Errorf("-routes %d: must be 1 to 50", o.routes)
	case o.mode != modeCheck && len(o.files) > 1:
		return fmt.Errorf("%d files: only one goes with these flags", len(o.files))
	case o.set != nil && (o.mode == modePrint || o.mode == modeAnonymise):
		return errors.New("-set, -mode and -law do not go with -print and -anonymise: they write the file as it is")
	}
	for _, name := range o.files {
		if strings.HasPrefix(name, "-") && name != "-" {
			return fmt.Errorf("%q stands behind a file; flags come before files, and a file of that name is ./%s", name, name)
		}
	}
	return errors.Join(only("v", modeCheck), only("key", modeAnonymise), only("comments", modeAnonymise), only("routes", modePlot),
		only("case", modeWhatIf, modeExplain, modePlot), only("n", modeCheck, modeWhatIf))
}
