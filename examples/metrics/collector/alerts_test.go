package collector

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// alerts is what Prometheus takes as a file of rules.
type alerts struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert       string
			Expr        string
			For         string
			Labels      map[string]string
			Annotations map[string]string
		}
	}
}

// shown are the labels that an annotation names.
var shown = regexp.MustCompile(`\$labels\.(\w+)`)

func checkAlerts(t *testing.T, text []byte) []string {
	t.Helper()
	c := newChecker(t)
	var a alerts
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&a); err != nil {
		return []string{err.Error()}
	}
	known := map[string]bool{}
	for _, g := range a.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || known[r.Alert] {
				c.fault("alert %q: its name is taken, or none", r.Alert)
			}
			known[r.Alert] = true
			if _, err := model.ParseDuration(r.For); r.For != "" && err != nil {
				c.fault("alert %s: %v", r.Alert, err)
			}
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				c.fault("alert %s says not how bad it is, what it is, or what to do", r.Alert)
			}
			var legend strings.Builder // it is held to the labels of the result
			for _, l := range shown.FindAllStringSubmatch(r.Annotations["summary"], -1) {
				legend.WriteString("{{" + l[1] + "}}")
			}
			c.expression("alert "+r.Alert, r.Expr, legend.String())
		}
	}
	if len(known) == 0 {
		c.fault("there are no alerts")
	}
	return c.problems
}

// The alerts are a file that Prometheus takes, and ask for nothing that is not exported.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("../alerts.yml")
	require.NoError(t, err)
	assert.Empty(t, checkAlerts(t, text))
	for want, change := range map[string][2]string{
		"no such metric":             {"rdmagate_device_exhausted ==", "rdmagate_devices_exhausted =="},
		"parse error":                {"sum by (instance) (", "sum by (instance) (("},
		"is never persistent":        {`"persistent fault"`, `"persistent"`},
		"is a counter":               {"increase(rdmagate_notices_total", "avg_over_time(rdmagate_notices_total"},
		"has no label nic":           {"$labels.device }} on", "$labels.nic }} on"},
		"which is not grouped by":    {"out of use on {{ $labels.instance", "out of use on {{ $labels.phase"},
		"unknown unit":               {"for: 10m", "for: 10 minutes"},
		"not how bad it is":          {"{severity: critical}", "{}"},
		"taken":                      {"RdmagatePortExhausted", "RdmagateDeviceExhausted"},
		"field anotations not found": {"annotations:", "anotations:"},
		"there are no alerts":        {string(text), "groups: []"},
	} {
		require.Contains(t, string(text), change[0])
		problems := checkAlerts(t, bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1))
		assert.Contains(t, strings.Join(problems, "\n"), want)
	}
}
