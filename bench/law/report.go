package main

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"

	"github.com/rdmagate/rdmagate/bench/internal/machine"
	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// report is what a person reads of the results.
type report struct {
	machine machine.Machine
	options *options
	results []result
}

// page is the report as both of its forms have it.
type page struct {
	Origin   string // machine, commit and date
	Arms     []armText
	Goals    table // all figures that have one
	Sections []section
}

type armText struct{ Name, Settings string }

type section struct {
	Name, Setup, Seeds string
	Table              table
	Images             []image
}

// table has a row for each figure and a column for each arm.
type table struct {
	Arms []string
	Rows []row
}

type row struct {
	Experiment, Figure, Unit, Goal string
	Cells                          []cell
}

// cell is what an arm gave. Verdict is met, missed or empty.
type cell struct{ Median, Range, Verdict string }

// image is a plot. What it says in words is the caption.
type image struct {
	File, Title, Caption string
	png                  []byte
}

// Source returns the image itself, as the address of an image.
func (i image) Source() template.URL {
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(i.png))
}

//go:embed report.html.tmpl
var htmlText string

//go:embed report.md.tmpl
var markdownText string

// write writes the report into its folder, if there is to be one.
func (rep report) write() error {
	folder := rep.options.out
	if folder == "" || len(rep.results) == 0 {
		return nil
	}
	p, err := rep.page()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the report: %w", err)
	}
	for _, s := range p.Sections {
		for _, i := range s.Images {
			if err := os.WriteFile(filepath.Join(folder, i.File), i.png, 0o644); err != nil {
				return fmt.Errorf("cannot write a plot: %w", err)
			}
		}
	}
	html, err := template.New("html").Parse(htmlText)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := html.Execute(&b, p); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "report.html"), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	text, err := p.markdown()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "report.md"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

// page puts the report together.
func (rep report) page() (page, error) {
	p := page{Origin: rep.machine.String()}
	for _, a := range rep.options.arms {
		p.Arms = append(p.Arms, armText{a.Name, settings(a)})
		p.Goals.Arms = append(p.Goals.Arms, a.Name)
	}
	for _, r := range rep.results {
		s := section{Name: r.experiment.Name, Setup: r.experiment.Setup, Seeds: r.seedText()}
		for _, a := range r.arms {
			s.Table.Arms = append(s.Table.Arms, a.arm.Name)
		}
		for _, f := range r.experiment.Figures {
			s.Table.Rows = append(s.Table.Rows, r.row(f, s.Table.Arms))
			if f.Goal.Sense != fabriclab.NoGoal {
				p.Goals.Rows = append(p.Goals.Rows, r.row(f, p.Goals.Arms))
			}
		}
		images, err := rep.images(r)
		if err != nil {
			return p, fmt.Errorf("cannot draw %s: %w", r.experiment.Name, err)
		}
		s.Images = images
		p.Sections = append(p.Sections, s)
	}
	return p, nil
}

// row has what each of the arms gave for a figure; an arm that was not asked gets an
// empty cell.
func (r result) row(f fabriclab.Figure, arms []string) row {
	w := row{Experiment: r.experiment.Name, Figure: f.Name, Unit: f.Unit, Goal: f.Goal.String()}
	for _, name := range arms {
		c := cell{Median: "-"}
		for _, a := range r.arms {
			if s, ok := a.spread(f.Name); ok && a.arm.Name == name {
				c = cell{Median: number(s.median), Verdict: verdict(f, s)}
				if least, most := number(s.least), number(s.most); least != most {
					c.Range = least + " to " + most
				}
			}
		}
		w.Cells = append(w.Cells, c)
	}
	return w
}

// settings says in words how an arm is set.
func settings(a fabriclab.Arm) string {
	c := a.Config
	if c == nil {
		return map[string]string{
			"none":   "no control: send queues are the limit",
			"static": "a window of one bandwidth-delay product, and one slice, for each route",
			"aimd":   "a window for each device: 64 MiB, 4 KiB more for each slice that was delivered up to 256 MiB, half of it for each that failed",
		}[a.Name]
	}
	return fmt.Sprintf("law %v, windows %d KiB to %d KiB, start %d KiB, device %d KiB, target %v, epoch %v, pressure %d/%d epochs, suspect after %v, threshold %d, cooldown %v to %v, probe interval %v, prober %v",
		c.Law, c.MinWindowBytes>>10, c.MaxWindowBytes>>10, c.StartWindowBytes>>10, c.DeviceWindowBytes>>10, c.TargetDrain, c.Epoch,
		c.HighPressureEpochs, c.LowPressureEpochs, c.SuspectAfter, c.HardErrorThreshold, c.Cooldown, c.CooldownCap, c.ProbeInterval, c.Prober)
}
