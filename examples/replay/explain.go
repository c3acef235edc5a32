package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rdmagate/rdmagate/internal/replay"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
)

// explainRoute tells the life of a route.
func (r *runner) explainRoute(src *source) int {
	named, err := r.named(src)
	if err != nil {
		return r.trouble(err)
	}
	if r.set != nil {
		fmt.Fprintf(r.out, "with %s:\n", r.changes)
	}
	for i, n := range named {
		if i > 0 {
			fmt.Fprintln(r.out)
		}
		t := newTeller(r, src.name, n)
		result, err := src.run("explain", replay.Options{Set: r.set, Tracer: t})
		switch {
		case err != nil && damaged(err) == nil:
			return r.trouble(err)
		case r.caseName != "" && !slices.Contains(result.Cases, r.caseName):
			return r.trouble(noCase(src, r.caseName, result.Cases))
		case err != nil:
			r.say("%v", err)
			return exitMismatch
		case result.Different > 0 && r.set == nil:
			r.say("%s: the replay differs from the recording in %s (%s)", src.name, count(result.Different, "answer"), result.Differences[0].Excuse)
		}
	}
	return 0
}

// routeName is a route by its label and pair.
type routeName struct {
	id   scenario.ID
	pair string
}

// named finds the routes that -explain names: by a label, or by a pair, which several
// workers may have.
func (r *runner) named(src *source) (found []routeName, err error) {
	all, err := routesIn(src)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, n := range all {
		if n.id == scenario.NewID(r.route) || n.pair == r.route {
			found = append(found, n)
		}
		known = append(known, n.id.String(), n.pair)
	}
	slices.Sort(known)
	if len(found) > 0 {
		return found, nil
	}
	return nil, fmt.Errorf("-explain %q: %s has no route of that label or pair; %s", r.route, src.name, nearest(r.route, slices.Compact(known)))
}

// routesIn lists the routes of a file, each label with the first pair that it has.
func routesIn(src *source) (all []routeName, err error) {
	in, err := src.reader("look for routes")
	if err != nil {
		return nil, err
	}
	seen := map[scenario.ID]bool{}
	var s scenario.Statement
	for {
		err := in.Next(&s)
		if fault := (*scenario.Fault)(nil); err != nil && !errors.As(err, &fault) {
			return all, nil // the end, or what the run will say
		}
		if err != nil || s.Kind != scenario.Route || seen[s.Values("route")[0].ID()] {
			continue
		}
		id := s.Values("route")[0].ID()
		seen[id] = true
		all = append(all, routeName{id, pairOf(&s).String()})
	}
}

// pairOf returns the pair of a route's statement.
func pairOf(s *scenario.Statement) rail.Pair {
	port, given := s.Num("port")
	if !given {
		port = 1
	}
	return rail.Pair{
		Local: s.Text("device"), Port: uint8(port), Peer: s.Text("peer"), Incarnation: s.Text("incarnation"), Remote: s.Text("remote"),
	}
}

// sentence joins parts to a sentence that begins with a capital and ends with a stop.
func sentence(parts ...string) string {
	text := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
