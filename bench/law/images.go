package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/rdmagate/rdmagate/bench/internal/chart"
	"github.com/rdmagate/rdmagate/internal/fabriclab"
)

// images draws what an experiment gave: quantities over time, slice times, states of
// routes, and, with the last case of a group, how figures grow with it.
func (rep report) images(r result) (all []image, err error) {
	type drawer func(result) (*image, error)
	for _, draw := range []drawer{rep.timelines, rep.sliceTimes, rep.states, rep.growth} {
		i, err := draw(r)
		if err != nil {
			return nil, err
		}
		if i != nil {
			all = append(all, *i)
		}
	}
	return all, nil
}

// origin is the part of a caption that says where a plot comes from.
func (rep report) origin(seeds string) string {
	return fmt.Sprintf("%s; %s", seeds, rep.machine)
}

func (rep report) firstSeed() string { return fmt.Sprintf("Seed %d", rep.options.first) }

func (rep report) allSeeds(r result) string {
	if r.seeds == 1 {
		return rep.firstSeed()
	}
	return fmt.Sprintf("Seeds %d to %d", rep.options.first, rep.options.first+uint64(r.seeds)-1)
}

// file names a plot after its experiment.
func file(r result, kind string) string {
	return strings.ReplaceAll(r.experiment.Name, "/", "-") + "-" + kind + ".png"
}

// line draws points in the style of an arm, the same in all plots.
func (rep report) line(arm string, points plotter.XYs) (*plotter.Line, error) {
	i := slices.IndexFunc(rep.options.arms, func(a fabriclab.Arm) bool { return a.Name == arm })
	return chart.Line(max(0, i), points)
}

// axis is a unit of time for the X axis.
func axis(longest time.Duration) (unit time.Duration, name string) {
	switch {
	case longest > 10*time.Minute:
		return time.Minute, "min"
	case longest > time.Second:
		return time.Second, "s"
	}
	return time.Millisecond, "ms"
}
