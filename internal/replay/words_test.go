package replay

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/internal/scenario"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
)

// The words of the language are those of the packages, with the same numbers.
func TestWords(t *testing.T) {
	same := func(w *scenario.Words, names func(int64) string, n int) {
		t.Helper()
		assert.Len(t, w.All(), n, w.Name)
		for i := range int64(n) {
			assert.Equal(t, names(i), w.Text(i), "%s %d", w.Name, i)
		}
		past := names(int64(n))
		assert.Contains(t, past, "(", "%s: there are more, such as %s", w.Name, past)
	}
	same(scenario.Modes, func(i int64) string { return cc.Mode(i).String() }, 3)
	same(scenario.Laws, func(i int64) string { return cc.Law(i).String() }, 2)
	same(scenario.Answers, func(i int64) string { return cc.Answer(i).String() }, 4)
	same(scenario.Domains, func(i int64) string { return cc.Domain(i).String() }, 3)
	same(scenario.Hints, func(i int64) string { return cc.Hint(i).String() }, 3)
	same(scenario.States, func(i int64) string { return cc.State(i).String() }, 5)
	same(scenario.Pressures, func(i int64) string { return cc.Pressure(i).String() }, 5)
	same(scenario.Standings, func(i int64) string { return rail.Standing(i).String() }, 3)
	same(scenario.TaskStates, func(i int64) string { return taskstate.State(i).String() }, 4)
	for i := range int64(4) {
		assert.Equal(t, cc.Edges(i).String(), scenario.Edges.Text(i))
	}
	// Others have names of their own; there are as many.
	assert.Contains(t, cc.Notice(len(scenario.Notices.All())-1).String(), "Notice(", "cut_off stands for no notice")
	assert.NotContains(t, cc.Notice(len(scenario.Notices.All())-2).String(), "Notice(")
	assert.Contains(t, classify.Status(len(scenario.Statuses.All())).String(), "Status(")
	assert.NotContains(t, classify.Status(len(scenario.Statuses.All())-1).String(), "Status(")
	assert.Contains(t, classify.EventType(len(scenario.Events.All())).String(), "EventType(")
	assert.NotContains(t, classify.EventType(len(scenario.Events.All())-1).String(), "EventType(")
	for _, c := range causes {
		_, known := scenario.Errors.Num(c.word)
		assert.True(t, known, c.word)
	}
	assert.Equal(t, "RETRY_EXC_ERR", scenario.Statuses.Text(int64(classify.StatusRetryExcErr)))
	assert.Equal(t, "PORT_ERR", scenario.Events.Text(int64(classify.EventPortErr)))
	assert.Equal(t, "WQ_FATAL", scenario.Events.Text(int64(classify.EventWQFatal)))
}

// Every field of the configuration can be set, under its name in snake case, and all that
// can be set is a field.
func TestConfigFields(t *testing.T) {
	kind := reflect.TypeFor[cc.Config]()
	byName := map[string]scenario.Param{}
	for _, p := range scenario.ConfigParams() {
		byName[p.Name] = p
	}
	assert.Len(t, byName, kind.NumField())
	for i := range kind.NumField() {
		f := kind.Field(i)
		p, found := byName[snake(f.Name)]
		if !assert.True(t, found, "%s as %s", f.Name, snake(f.Name)) {
			continue
		}
		cfg := cc.DefaultConfig()
		value := int64(7)
		if p.Type == scenario.Bool || p.Type == scenario.Word {
			value = 1
		}
		configure(&cfg, []scenario.Arg{{Param: &p, Num: value}})
		got := fmt.Sprint(reflect.ValueOf(cfg).Field(i).Interface())
		assert.Contains(t, []string{"7", "7ns", "true", "observe", "round"}, got, f.Name)
		reflect.ValueOf(&cfg).Elem().Field(i).SetZero()
		want := cc.DefaultConfig()
		reflect.ValueOf(&want).Elem().Field(i).SetZero()
		assert.Equal(t, want, cfg, "%s changes no other field", f.Name)
	}
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Every kind of statement can be run.
func TestHandlers(t *testing.T) {
	for _, k := range scenario.Kinds() {
		assert.NotNil(t, handlers[k], k.Name())
	}
	assert.Len(t, handlers, len(scenario.Kinds()))
}
