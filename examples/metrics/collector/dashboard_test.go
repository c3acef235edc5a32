package collector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dashboard is what every Grafana since version 10 needs of a dashboard.
type dashboard struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []variable `json:"list"`
	} `json:"templating"`
	Time struct{ From, To string } `json:"time"`
}

type panel struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	GridPos     *place      `json:"gridPos"`
	Datasource  *datasource `json:"datasource"`
	Targets     []target    `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

type place struct{ X, Y, W, H int }

type datasource struct{ Type, UID string }

type target struct {
	RefID        string      `json:"refId"`
	Expr         string      `json:"expr"`
	LegendFormat string      `json:"legendFormat"`
	Datasource   *datasource `json:"datasource"`
}

type variable struct {
	Name       string          `json:"name"`
	Type       string          `json:"type"`
	Query      json.RawMessage `json:"query"`
	Definition string          `json:"definition"`
	Datasource *datasource     `json:"datasource"`
}

// units are the names that Grafana has for those that are used here.
var units = []string{"none", "s", "bytes", "Bps", "ops", "percentunit"}

const (
	columns    = 24
	metricName = "__name__"
)

// The dashboard is one that Grafana takes, and asks for nothing that is not exported.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../dashboard.json")
	require.NoError(t, err)
	assert.Empty(t, check(t, text))
}

// Every kind of mistake is found.
func TestDashboardMistakes(t *testing.T) {
	text, err := os.ReadFile("../dashboard.json")
	require.NoError(t, err)
	for want, change := range map[string][2]string{
		"no such metric":         {"rdmagate_device_exhausted_ports{", "rdmagate_device_exhausted_port{"},
		"parse error":            {"sum(rdmagate_device_exhausted{", "sum((rdmagate_device_exhausted{"},
		"has no label nic":       {"sum by (instance, device) (rdmagate_device_window_bytes", "sum by (instance, nic) (rdmagate_device_window_bytes"},
		"has no label dev":       {`device=~\"$device\",state=\"SUSPECT\"`, `dev=~\"$device\",state=\"SUSPECT\"`},
		"is never SUSPECTED":     {`state=\"SUSPECT\"})`, `state=\"SUSPECTED\"})`},
		"is a counter":           {"rate(rdmagate_refusals_total", "avg_over_time(rdmagate_refusals_total"},
		"is no counter":          {"avg_over_time(rdmagate_device_pressure", "rate(rdmagate_device_pressure"},
		"legend":                 {"{{answer}} {{reason}} {{domain}}", "{{answer}} {{cause}}"},
		"overlaps":               {`"x": 12,` + "\n        \"y\": 5,", `"x": 11,` + "\n        \"y\": 5,"},
		"outside":                {`"w": 24,` + "\n        \"h\": 10", `"w": 25,` + "\n        \"h\": 10"},
		"unit":                   {`"unit": "Bps"`, `"unit": "bytes/s"`},
		"id":                     {`"id": 2,`, `"id": 1,`},
		"data source":            {`"uid": "${datasource}"`, `"uid": "PBFA97CFB590B2093"`},
		"no title":               {`"title": "Drain time"`, `"title": ""`},
		"variable":               {`"type": "datasource"`, `"type": "custom"`},
		"label_values":           {"label_values(rdmagate_controller_info, instance)", "label_values(rdmagate_info, instance)"},
		"refers to no variable":  {"$device", "$nic"},
		"kind of panel":          {`"type": "state-timeline"`, `"type": "status"`},
		"invalid character":      {`"panels": [`, `"panels": [[`},
		"is not as Grafana asks": {`"schemaVersion": 39`, `"schemaVersion": 3`},
	} {
		t.Run(want, func(t *testing.T) {
			require.Contains(t, string(text), change[0])
			problems := check(t, bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1))
			assert.Contains(t, strings.Join(problems, "\n"), want)
		})
	}
}

// checker collects what is wrong with a dashboard.
type checker struct {
	exported map[string]*dto.MetricFamily
	vars     []string
	problems []string
}

func (c *checker) fault(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// newChecker returns a checker that knows what is exported.
func newChecker(t *testing.T) *checker {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(everything(two()))
	families, err := registry.Gather()
	require.NoError(t, err)
	c := &checker{exported: map[string]*dto.MetricFamily{}}
	for _, f := range families {
		c.exported[f.GetName()] = f
	}
	return c
}

func check(t *testing.T, text []byte) []string {
	t.Helper()
	c := newChecker(t)
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		return []string{err.Error()}
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 || len(d.Panels) == 0 || d.Time.From == "" || d.Time.To == "" {
		c.fault("uid %q, title %q, schemaVersion %d, %d panels, time %v: is not as Grafana asks", d.UID, d.Title, d.SchemaVersion, len(d.Panels), d.Time)
	}
	c.variables(d.Templating.List)
	c.layout(d.Panels)
	for _, p := range d.Panels {
		if p.Type != "row" {
			c.panel(p)
		}
	}
	return c.problems
}

var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

func (c *checker) variables(list []variable) {
	source := false
	for _, v := range list {
		c.vars = append(c.vars, v.Name)
		switch v.Type {
		case "datasource":
			source = source || v.Name == "datasource" && string(v.Query) == `"prometheus"`
		case "query":
			c.source("variable "+v.Name, v.Datasource)
			var query struct{ Query, RefID string }
			err := json.Unmarshal(v.Query, &query)
			m := labelValues.FindStringSubmatch(v.Definition)
			if err != nil || m == nil || query.RefID == "" || query.Query != v.Definition {
				c.fault("variable %s: %q and %s are not the same label_values(metric, label), the latter with a refId", v.Name, v.Definition, v.Query)
				continue
			}
			c.expression("label_values of variable "+v.Name, m[1], "{{"+m[2]+"}}")
		}
	}
	if !source {
		c.fault("there is no variable of the type datasource for Prometheus")
	}
}

func (c *checker) source(where string, d *datasource) {
	if d == nil || d.Type != "prometheus" || d.UID != "${datasource}" {
		c.fault("%s: the data source is not that of the variable", where)
	}
}

func (c *checker) layout(panels []panel) {
	ids := map[int]bool{}
	taken := map[place]string{}
	for _, p := range panels {
		if ids[p.ID] || p.ID <= 0 {
			c.fault("panel %q: id %d is taken, or none", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.Title == "" {
			c.fault("panel %d has no title", p.ID)
		}
		g := p.GridPos
		if g == nil || g.X < 0 || g.Y < 0 || g.W < 1 || g.H < 1 || g.X+g.W > columns {
			c.fault("panel %q: %+v lies outside of the grid", p.Title, g)
			continue
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[place{X: x, Y: y}]; other != "" {
					c.fault("panel %q overlaps %q", p.Title, other)
				}
				taken[place{X: x, Y: y}] = p.Title
			}
		}
	}
}

func (c *checker) panel(p panel) {
	where := fmt.Sprintf("panel %q", p.Title)
	if !slices.Contains([]string{"timeseries", "stat", "state-timeline"}, p.Type) {
		c.fault("%s: %q is no kind of panel that is used here", where, p.Type)
	}
	if !slices.Contains(units, p.FieldConfig.Defaults.Unit) {
		c.fault("%s: unit %q is none that Grafana knows", where, p.FieldConfig.Defaults.Unit)
	}
	c.source(where, p.Datasource)
	if len(p.Targets) == 0 {
		c.fault("%s asks for nothing", where)
	}
	refs := map[string]bool{}
	for _, t := range p.Targets {
		if refs[t.RefID] || t.RefID == "" {
			c.fault("%s: refId %q is taken, or none", where, t.RefID)
		}
		refs[t.RefID] = true
		c.source(where, t.Datasource)
		c.expression(where, t.Expr, t.LegendFormat)
	}
}

var (
	variables = regexp.MustCompile(`\$(\w+)`)
	legends   = regexp.MustCompile(`{{(\w+)}}`)
)

// expression checks one query: it parses, its metrics are exported, they have the labels
// that it names, counters are taken as counters, and its legend has labels to show.
func (c *checker) expression(where, expr, legend string) {
	const rate = "$__rate_interval"
	plain := strings.ReplaceAll(expr, rate, "1m")
	for _, v := range variables.FindAllStringSubmatch(plain, -1) {
		if !slices.Contains(c.vars, v[1]) {
			c.fault("%s: $%s refers to no variable", where, v[1])
		}
	}
	plain = variables.ReplaceAllString(plain, ".*")
	tree, err := parser.NewParser(parser.Options{}).ParseExpr(plain)
	if err != nil {
		c.fault("%s: %s: parse error: %v", where, expr, err)
		return
	}
	parser.Inspect(tree, func(node parser.Node, path []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			c.selector(where, n, path)
		case *parser.AggregateExpr:
			for _, l := range n.Grouping {
				c.label(where, n, l)
			}
		}
		return nil
	})
	result := tree
	if compared, ok := tree.(*parser.BinaryExpr); ok { // an alert's
		result = compared.LHS
	}
	outermost, aggregated := result.(*parser.AggregateExpr)
	for _, l := range legends.FindAllStringSubmatch(legend, -1) {
		if aggregated && len(outermost.Grouping) > 0 && !slices.Contains(outermost.Grouping, l[1]) {
			c.fault("%s: the legend shows %s, which is not grouped by", where, l[1])
		}
		c.label(where+": the legend", tree, l[1])
	}
}

// label requires that all metrics under a node have a label.
func (c *checker) label(where string, under parser.Node, name string) {
	parser.Inspect(under, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok && !c.has(s.Name, name) {
			c.fault("%s: %s has no label %s", where, s.Name, name)
		}
		return nil
	})
}

// has reports whether a metric has a label; instance and job come with the scrape.
func (c *checker) has(metric, label string) bool {
	return slices.Contains([]string{"instance", "job", metricName}, label) || len(c.values(metric, label)) > 0
}

// values returns the values that a label of a metric has.
func (c *checker) values(metric, label string) (values []string) {
	for _, m := range c.exported[metric].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == label {
				values = append(values, l.GetValue())
			}
		}
	}
	return values
}

func (c *checker) selector(where string, s *parser.VectorSelector, path []parser.Node) {
	family := c.exported[s.Name]
	if family == nil {
		c.fault("%s: there is no such metric as %q", where, s.Name)
		return
	}
	for _, m := range s.LabelMatchers {
		if m.Name == metricName || m.Name == "instance" || m.Name == "job" {
			continue
		}
		values := c.values(s.Name, m.Name)
		if len(values) == 0 {
			c.fault("%s: %s has no label %s", where, s.Name, m.Name)
		} else if !slices.ContainsFunc(values, m.Matches) {
			c.fault("%s: %s of %s is never %s", where, m.Name, s.Name, m.Value)
		}
	}
	rated := false
	for _, above := range path {
		if call, ok := above.(*parser.Call); ok && slices.Contains([]string{"rate", "increase"}, call.Func.Name) {
			rated = true
		}
	}
	if counter := family.GetType() == dto.MetricType_COUNTER; counter && !rated {
		c.fault("%s: %s is a counter, and only its rate means anything", where, s.Name)
	} else if !counter && rated {
		c.fault("%s: %s is no counter, and has no rate", where, s.Name)
	}
}
