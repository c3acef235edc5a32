package rail

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever a file holds, the parser ends, and either gives a file that is good in
// every way or a message that can be read. What it accepts, the standard library's
// reader understands alike.
func FuzzParseFile(f *testing.F) {
	const ab = `{"local": "a", "remote": "b"}`
	for _, text := range []string{
		goodFile, "", "{}", "[]", "null", `"all"`, "7", "\ufeff{}", "\x00", "\xff", strings.Repeat("[", 10001), strings.Repeat(`{"all":`, 3000),
		`{"all": [` + ab + `]}`, `{"all": [` + ab + `,` + ab + `]}`, `{"all": [` + ab + `], "direct": [` + ab + `]}`, `{"all": [` + ab + `], "direct": null}`,
		`{"all": [{"local": "\ud800", "remote": "\u0000"}]}`, `{"all": [{"local": "a", "local": "b", "remote": "c"}]}`, `{"all": [{"Local": "a", "remote": "b"}]}`,
		`{"all": [[{}], {}, null, 1e999, -0, true, ""], "all": {}}`, `{"all": [` + ab + `]}{}`, `{"all": [` + ab + `,]}`, `{"all" [` + ab + `]}`,
		"{\"all\":\r\n[\t" + ab + " ] }\n\n", `{"a` + "\n" + `ll": []}`, `{"all": [{"local": ":,", "remote": "->\n\"/\\"}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile(strings.NewReader(string(data)))
		if err != nil {
			assert.Nil(t, file)
			for line := range strings.SplitSeq(err.Error(), "\n") {
				assert.True(t, strings.HasPrefix(line, "rail file: "), "%q", line)
				assert.Less(t, len(line), 1024)
			}
			assert.LessOrEqual(t, strings.Count(err.Error(), "\n"), maxFileFaults)
			return
		}
		require.NoError(t, file.Validate())
		lines := strings.Count(string(data), "\n") + 1
		var local, remote []NIC
		for _, list := range [][]FilePair{file.All, file.Direct} {
			last := 1
			for i, p := range list {
				assert.GreaterOrEqual(t, p.Line, last, "in the order of the text")
				assert.LessOrEqual(t, p.Line, lines)
				last = p.Line
				list[i].Line = 0
				local, remote = append(local, NIC{Name: p.Local, Port: 1}), append(remote, NIC{Name: p.Remote, Port: 1})
			}
		}
		assert.NoError(t, file.Check(local, remote))

		var plain File
		require.NoError(t, json.Unmarshal(data, &plain))
		assert.Equal(t, plain.All, file.All)
		assert.ElementsMatch(t, plain.Direct, file.Direct)
	})
}
