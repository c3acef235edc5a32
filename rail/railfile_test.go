package rail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goodFile = `{
  "all": [
    {"local": "mlx5_0", "remote": "mlx5_0"},
    {"local": "mlx5_0", "remote": "mlx5_3"},

    {"remote": "mlx5_1", "local": "mlx5_1"}
  ],
  "direct": [{"local": "mlx5_0", "remote": "mlx5_0"}]
}
`

func parseText(text string) (*File, error) { return ParseFile(strings.NewReader(text)) }

func TestParseFile(t *testing.T) {
	f, err := parseText(goodFile)
	require.NoError(t, err)
	assert.Equal(t, &File{
		All:    []FilePair{{Local: "mlx5_0", Remote: "mlx5_0", Line: 3}, {Local: "mlx5_0", Remote: "mlx5_3", Line: 4}, {Local: "mlx5_1", Remote: "mlx5_1", Line: 6}},
		Direct: []FilePair{{Local: "mlx5_0", Remote: "mlx5_0", Line: 8}},
	}, f)

	for name, text := range map[string]string{
		"no direct":     `{"all": [{"local": "a", "remote": "b"}]}`,
		"empty direct":  `{"direct": [], "all": [{"local": "a", "remote": "b"}]}`,
		"one line":      strings.Join(strings.Fields(goodFile), ""),
		"CR LF":         strings.ReplaceAll(goodFile, "\n", "\r\n"),
		"any character": `{"all": [{"local": "a:1->\"b\"/\n\u0000", "remote": "ü, \ud83d\ude00"}]}`,
		"longest names": fmt.Sprintf(`{"all": [{"local": %q, "remote": %[1]q}]}`, strings.Repeat("n", MaxName)),
		"largest":       goodFile + strings.Repeat(" ", MaxFile-len(goodFile)),
	} {
		_, err := parseText(text)
		assert.NoError(t, err, name)
	}
}

// Each bad file has its messages, all of them, and gives no File.
func TestParseFileFaults(t *testing.T) {
	all := func(pairs string) string { return `{"all": [` + pairs + `]}` }
	const ab = `{"local": "a", "remote": "b"}`
	tests := []struct {
		name string
		text string
		want string // the whole error
	}{
		{"empty", "", "rail file: it is empty"},
		{"blank", " \n\t\n", "rail file: it is empty"},
		{"byte order mark", "\ufeff" + goodFile, "rail file: it begins with a byte order mark; save it as UTF-8 without one"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "rail file: it is no UTF-8 text; is it the right file?"},
		{"Latin-1", "{\"all\": [{\"local\": \"\xe4\", \"remote\": \"b\"}]}", "rail file: it is no UTF-8 text; is it the right file?"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00", "rail file: it is no UTF-8 text; is it the right file?"},
		{"a 0 first", "\x00{}", "rail file: it is no UTF-8 text; is it the right file?"},
		{"a 0 in a name", all("{\"local\": \"a\x00\", \"remote\": \"b\"}"), "rail file: it is no UTF-8 text; is it the right file?"},
		{"a 1 in a name", all("{\"local\": \"a\x01\", \"remote\": \"b\"}"), `rail file: line 1, column 22: invalid character '\x01' in string literal`},
		{"too large", goodFile + strings.Repeat(" ", MaxFile), "rail file: it is larger than 1048576 bytes; is it the right file?"},
		{"cut off", goodFile[:40], "rail file: line 3, column 27: unexpected end of JSON input"},
		{"no JSON", "all:\n  - local: a\n", "rail file: line 1, column 1: invalid character 'a' looking for beginning of value"},
		{"comma too many", "{\"all\": [\n  " + ab + ",\n]}", "rail file: line 3, column 1: invalid character ']' looking for beginning of value"},
		{"comma missing", "{\"all\": [\n" + ab + "\n" + ab + "]}", "rail file: line 3, column 1: invalid character '{' after array element"},
		{"trailing data", goodFile + "{}", "rail file: line 10, column 1: invalid character '{' after top-level value"},
		{"comment", "// rails\n" + goodFile, "rail file: line 1, column 1: invalid character '/' looking for beginning of value"},
		{"too deep", strings.Repeat("[", 20000), "rail file: line 1, column 10001: invalid character '[' exceeded max depth"},
		{"deep, but closed", `{"all": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", `rail file: line 1: all[0]: it is a list, must be {"local": name, "remote": name}`},
		{"a list", "[]", `rail file: line 1: it is a list, must be an object with "all" and "direct"`},
		{"null", "\nnull", `rail file: line 2: it is null, must be an object with "all" and "direct"`},
		{"a text", `"all"`, `rail file: line 1: it is a text, must be an object with "all" and "direct"`},
		{"nothing in it", "{}", `rail file: "all" has no pair, so nothing could be used; list the pairs, or do without the file`},
		{"no pair", `{"all": []}`, `rail file: "all" has no pair, so nothing could be used; list the pairs, or do without the file`},
		{"only direct", `{"direct": [` + ab + `]}`, `rail file: "all" has no pair, so nothing could be used; list the pairs, or do without the file
rail file: line 1: direct[0]: "a" to "b" is not in "all"; add it there, or take it out here`},
		{"all is no list", `{"all": {"local": "a", "remote": "b"}, "direct": [` + ab + `]}`, `rail file: line 1: "all" is an object, must be a list of pairs`},
		{"direct is null", "{\"all\": [" + ab + "],\n \"direct\": null}", `rail file: line 2: "direct" is null, must be a list of pairs`},
		{"unknown field, near", "{\"all\": [" + ab + "],\n \"driect\": []}", `rail file: line 2: field "driect" is unknown; did you mean "direct"?`},
		{"unknown field, case", `{"All": [` + ab + `]}`, `rail file: "all" has no pair, so nothing could be used; list the pairs, or do without the file
rail file: line 1: field "All" is unknown; did you mean "all"?`},
		{"unknown field, far", `{"all": [` + ab + `], "version": {"a": [1, {}]}}`, `rail file: line 1: field "version" is unknown; there is "all", "direct"`},
		{"unknown field, then more", "{\"version\": {\"a\": {}, \"b\": [[]]}, \"all\": [" + ab + ", 7]}", `rail file: line 1: field "version" is unknown; there is "all", "direct"
rail file: line 1: all[1]: it is a number, must be {"local": name, "remote": name}`},
		{"field twice, then more", "{\"all\": [" + ab + "], \"all\": [" + ab + ", 7], \"direct\": 7}", `rail file: line 1: "all" is given twice; give it once
rail file: line 1: "direct" is a number, must be a list of pairs`},
		{"space before the end of a line", "{\"all\": [" + ab + "] \n, \"version\": 7}", `rail file: line 2: field "version" is unknown; there is "all", "direct"`},
		{"a broken pair, then more", all("7, " + ab + ", " + ab), `rail file: line 1: all[0]: it is a number, must be {"local": name, "remote": name}
rail file: line 1: all[2]: "a" to "b" repeats all[1] of line 1; list it once`},
		{"field twice", "{\"all\": [" + ab + "],\n\"all\": [1]}", `rail file: line 2: "all" is given twice; give it once`},
		{"pair is a text", all(`"a->b"`), `rail file: line 1: all[0]: it is a text, must be {"local": name, "remote": name}`},
		{"pair is a list", all(ab + `, ["a", "b"]`), `rail file: line 1: all[1]: it is a list, must be {"local": name, "remote": name}`},
		{"pair is null", all(`null`), `rail file: line 1: all[0]: it is null, must be {"local": name, "remote": name}`},
		{"unknown field of a pair", all(`{"local": "a", "remote": "b", "remtoe": "c"}`), `rail file: line 1: all[0]: field "remtoe" is unknown; did you mean "remote"?`},
		{"name twice", all(`{"local": "a", "local": "b", "remote": "b"}`), `rail file: line 1: all[0]: "local" is given twice; give it once`},
		{"name missing", all(`{"local": "a"}`), `rail file: line 1: all[0]: "remote" is missing`},
		{"both missing", all(`{}`), `rail file: line 1: all[0]: "local" is missing
rail file: line 1: all[0]: "remote" is missing`},
		{"name is a number", all(`{"local": 1e999, "remote": "b"}`), `rail file: line 1: all[0]: "local" is a number, must be a name in quotes`},
		{"name is a list", all(`{"local": "a", "remote": ["b", {"c": []}]}, ` + ab), `rail file: line 1: all[0]: "remote" is a list, must be a name in quotes`},
		{"name is true", all(`{"local": true, "remote": "b"}`), `rail file: line 1: all[0]: "local" is true or false, must be a name in quotes`},
		{"name is null", all(`{"local": null, "remote": "b"}`), `rail file: line 1: all[0]: "local" is null, must be a name in quotes`},
		{"empty names", all(`{"local": "", "remote": ""}`), `rail file: line 1: all[0]: local device name is empty; give the name the device or machine goes by
rail file: line 1: all[0]: remote device name is empty; give the name the device or machine goes by`},
		{"long name", all(`{"local": "` + strings.Repeat("n", 256) + `", "remote": "b"}`), `rail file: line 1: all[0]: local device name "nnnnnnnnnnnnnnnn"... has 256 bytes, at most 255 are allowed; use a shorter name or a digest of it`},
		{"half a character", all(`{"local": "\ud800", "remote": "b"}, {"local": "\ud801", "remote": "b"}`), `rail file: line 1: all[0]: "local" holds U+FFFD, which stands for what is no text; no device has such a name
rail file: line 1: all[1]: "local" holds U+FFFD, which stands for what is no text; no device has such a name`},
		{"duplicate", "{\"all\": [\n" + ab + ",\n{\"local\": \"a\", \"remote\": \"c\"},\n" + ab + "]}", `rail file: line 4: all[2]: "a" to "b" repeats all[0] of line 2; list it once`},
		{"duplicate, escaped", all(ab + `, {"remote": "\u0062", "local": "\u0061"}`), `rail file: line 1: all[1]: "a" to "b" repeats all[0] of line 1; list it once`},
		{"duplicate direct", `{"all": [` + ab + `], "direct": [` + ab + `, ` + ab + `]}`, `rail file: line 1: direct[1]: "a" to "b" repeats direct[0] of line 1; list it once`},
		{"direct is not in all", "{\"all\": [" + ab + "],\n\"direct\": [{\"local\": \"b\", \"remote\": \"a\"}]}", `rail file: line 2: direct[0]: "b" to "a" is not in "all"; add it there, or take it out here`},
		{"all faults at once", `{
  "all": [
    {"local": "a", "remote": ""},
    {"local": "a", "remote": "b"},
    {"local": "a", "remote": "b"},
    7
  ],
  "direct": [{"local": "a", "remote": "z"}, {"lokal": "a", "remote": "b"}],
  "al": 1
}`, `rail file: line 3: all[0]: remote device name is empty; give the name the device or machine goes by
rail file: line 5: all[2]: "a" to "b" repeats all[1] of line 4; list it once
rail file: line 6: all[3]: it is a number, must be {"local": name, "remote": name}
rail file: line 8: direct[1]: field "lokal" is unknown; did you mean "local"?
rail file: line 8: direct[1]: "local" is missing
rail file: line 9: field "al" is unknown; did you mean "all"?`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parseText(tt.text)
			assert.EqualError(t, err, tt.want)
			assert.Nil(t, f, "nothing is half loaded")
		})
	}
}

// A file of nothing but faults has a message that can be read.
func TestFileFaultsAreBounded(t *testing.T) {
	_, err := parseText(`{"all": [` + strings.Repeat("1,", 100000) + `1]}`)
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	assert.Len(t, lines, maxFileFaults+1)
	assert.Equal(t, "rail file: and 99981 more faults", lines[maxFileFaults])

	_, err = parseText(`{"all": [` + strings.Repeat("1,", maxFileFaults) + `1]}`)
	assert.ErrorContains(t, err, "rail file: and 1 more faults")
	_, err = parseText(`{"all": [` + strings.Repeat("1,", maxFileFaults-1) + `1]}`)
	require.Error(t, err)
	assert.Len(t, strings.Split(err.Error(), "\n"), maxFileFaults)

	name := strings.Repeat("long", 60)
	_, err = parseText(fmt.Sprintf(`{"all": [{"local": %q, "remote": "a"}, {"local": %[1]q, "remote": "a"}, {"local": "%[2]s%[2]s", "remote": "b", %[1]q: 1}]}`, name, name))
	require.Error(t, err)
	for line := range strings.SplitSeq(err.Error(), "\n") {
		assert.Less(t, len(line), 200)
	}
}

func TestParseFileReadError(t *testing.T) {
	broken := errors.New("input/output error")
	f, err := ParseFile(io.MultiReader(strings.NewReader(goodFile), iotest.ErrReader(broken)))
	assert.ErrorIs(t, err, broken)
	assert.Nil(t, f)

	// Of a file without an end no more is read than it takes to see that.
	_, err = ParseFile(io.MultiReader(strings.NewReader(strings.Repeat(" ", 2*MaxFile)), iotest.ErrReader(broken)))
	assert.ErrorContains(t, err, "it is larger than")
}

// What is written as JSON reads back as it was, lines aside.
func TestFileIsJSON(t *testing.T) {
	f := filed("a>b b>a", "b>a")
	data, err := json.Marshal(f)
	require.NoError(t, err)
	back, err := parseText(string(data))
	require.NoError(t, err)
	for _, list := range [][]FilePair{back.All, back.Direct} {
		for i := range list {
			assert.Equal(t, 1, list[i].Line)
			list[i].Line = 0
		}
	}
	assert.Equal(t, f, back)
}

// A file that was made without a file is judged alike, without lines.
func TestFileValidate(t *testing.T) {
	assert.NoError(t, filed("a>b", "a>b").Validate())
	assert.EqualError(t, filed("a>b a>b a>", "b>a").Validate(), `rail file: all[1]: "a" to "b" repeats all[0]; list it once
rail file: all[2]: remote device name is empty; give the name the device or machine goes by
rail file: direct[0]: "b" to "a" is not in "all"; add it there, or take it out here`)
	assert.EqualError(t, filed("a>b", "b>a b>a").Validate(), `rail file: direct[1]: "b" to "a" repeats direct[0]; list it once
rail file: direct[0]: "b" to "a" is not in "all"; add it there, or take it out here`, "each fault once")
}

func TestFileCheck(t *testing.T) {
	f, err := parseText(goodFile)
	require.NoError(t, err)
	assert.NoError(t, f.Check(nics("mlx5_0", "mlx5_1", "mlx5_2"), nics("mlx5_0", "mlx5_1", "mlx5_3")))
	assert.NoError(t, f.Check(unusable(nics("mlx5_0", "mlx5_1"), 0, "down"), nics("mlx5_0", "mlx5_1", "mlx5_3")), "a NIC that is down is known")

	// mlx5_1 vanished here, and the other side was renamed.
	assert.EqualError(t, f.Check(nics("mlx5_0"), nics("rocep3s0f0", "rocep3s0f1", "mlx5_01")), `rail file: line 3: all[0]: no remote NIC is named "mlx5_0"; did you mean "mlx5_01"?
rail file: line 4: all[1]: no remote NIC is named "mlx5_3"; did you mean "mlx5_01"?
rail file: line 6: all[2]: no local NIC is named "mlx5_1"; did you mean "mlx5_0"?
rail file: line 6: all[2]: no remote NIC is named "mlx5_1"; did you mean "mlx5_01"?`)
	assert.EqualError(t, filed("a>b a>c d>b", "a>b").Check(nil, nics("b", "c")), `rail file: all[0]: no local NIC is named "a"; there is none
rail file: all[2]: no local NIC is named "d"; there is none`, "each name once")
	assert.EqualError(t, filed("long>b", "").Check(nics("q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10"), nics("b")),
		`rail file: all[0]: no local NIC is named "long"; there is "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", 2 more`)
}

// A file may name NICs that are not there: those pairs are not, the others are.
func TestMapWithVanishedNICs(t *testing.T) {
	m := mustMap(t, MapConfig{Local: nics("a", "b"), Remote: nics("a", "b"), File: filed("a>a b>b gone>b a>gone", "b>b gone>b")})
	assert.Equal(t, "b>b a>a", order(m, Want{}))
	m = mustMap(t, MapConfig{Local: nics("a"), Remote: nics("a"), File: filed("gone>a", "")})
	_, outcome := m.Select(nil, Want{})
	assert.Equal(t, NoPath, outcome)
}
