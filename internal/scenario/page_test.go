package scenario

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write SCENARIO.md")

// TestPage: the page is what the table says, and its example is right.
func TestPage(t *testing.T) {
	intro, err := os.ReadFile("page.txt")
	require.NoError(t, err)
	page := string(intro) + tables()
	if *update {
		require.NoError(t, os.WriteFile("SCENARIO.md", []byte(page), 0o644))
	}
	got, err := os.ReadFile("SCENARIO.md")
	require.NoError(t, err)
	assert.Equal(t, page, string(got), "run go generate")

	_, example, _ := strings.Cut(page, "```\n")
	example, _, _ = strings.Cut(example, "```")
	_, err = Parse(example)
	assert.NoError(t, err)
}

// tables are the statements by topic, what arguments of many have in common, and the words.
func tables() string {
	var b strings.Builder
	begins := map[*Kind]string{
		Settings:        "Setting up",
		Renew:           "Calls of the controller",
		Advance:         "Scripts",
		Expect["route"]: "Expectations",
		Recording:       "Recordings",
	}
	for _, k := range kinds {
		if k.Verb == "never" {
			continue
		}
		if title := begins[k]; title != "" {
			fmt.Fprintf(&b, "\n## %s\n\n", title)
			if k == Expect["route"] {
				b.WriteString("`never` has the same conditions, without `within=`. With several subjects, each is expected to be so, and none may ever be.\n\n")
			}
		}
		fmt.Fprintf(&b, "- `%s` %s%s\n", form(k), k.Meaning, own(k))
	}
	fmt.Fprintf(&b, "\n## Arguments of many statements\n\nDECISION is `%s`, OUTCOME is `%s`.\n\n", places(decision)[1:], places(settled)[1:])
	told := map[string]bool{}
	eachParam(func(_ *Kind, p Param) {
		if text := described(p); !p.Plain && common()[text] && !told[text] {
			told[text] = true
			fmt.Fprintf(&b, "- %s\n", text)
		}
	})
	b.WriteString("\n## Words\n\n")
	eachParam(func(_ *Kind, p Param) {
		if p.Words == nil || told[p.Words.Name+" words"] {
			return
		}
		told[p.Words.Name+" words"] = true
		fmt.Fprintf(&b, "- *%s*: %s", p.Words.Name, strings.Join(p.Words.All(), ", "))
		if p.Words.Open {
			b.WriteString(", or any number")
		}
		b.WriteString("\n")
	})
	return b.String()
}

func eachParam(f func(*Kind, Param)) {
	for _, k := range kinds {
		if k == Set || k == Case || k.Verb == "never" {
			continue // their arguments are those of cc.Config and of expect
		}
		for _, list := range [][]Param{k.Params, k.Answers} {
			for _, p := range list {
				f(k, p)
			}
		}
	}
}

// common are the arguments that several statements have.
func common() map[string]bool {
	count, all := map[string]int{}, map[string]bool{}
	eachParam(func(_ *Kind, p Param) { count[described(p)]++ })
	for text, n := range count {
		all[text] = n > 2
	}
	return all
}

// own says what the arguments are that no other statement has.
func own(k *Kind) string {
	if k == Set || k == Case {
		return ""
	}
	var list []string
	shared := common()
	for _, params := range [][]Param{k.Params, k.Answers} {
		for _, p := range params {
			if text := described(p); !p.Plain && !shared[text] {
				list = append(list, text)
			}
		}
	}
	if len(list) == 0 {
		return ""
	}
	return " " + strings.Join(list, "; ") + "."
}

// described is an argument with what it means, and the words that it may be if they go
// by another name.
func described(p Param) string {
	if p.Words != nil && p.Words.Name != p.Name {
		return fmt.Sprintf("`%s` (%s): %s", p.Name, p.Words.Name, p.Meaning)
	}
	return fmt.Sprintf("`%s`: %s", p.Name, p.Meaning)
}

// form is the statement with all its arguments.
func form(k *Kind) string {
	text := k.Name()
	if k == Set || k == Case {
		text += " " + map[*Kind]string{Set: "[worker=W] ", Case: "NAME "}[k] + "[FIELD=VALUE]..."
		return text
	}
	text += places(k.Params)
	if len(k.Answers) > 0 {
		text += " [->" + answers(k) + "]"
	}
	return text
}

// answers is what may stand behind the arrow. Two answers are those of many.
func answers(k *Kind) string {
	switch &k.Answers[0] {
	case &decision[0]:
		return " DECISION"
	case &settled[0]:
		return " OUTCOME"
	}
	return places(k.Answers)
}

func places(params []Param) (text string) {
	for _, p := range params {
		name := strings.ToUpper(p.Name)
		if p.List {
			name += ",..."
		}
		switch p.Place {
		case Required:
			text += " " + name
		case Optional:
			text += " [" + name + "]"
		default:
			text += " [" + p.Name + "=]"
		}
	}
	return text
}
