package scenario

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// seeds are the texts that fuzzing begins with: the scenarios of the runner.
func seeds(f *testing.F) []string {
	all := []string{normal, canonical, header + "\n", "", "RGSCEN\x01\n"}
	files, err := filepath.Glob("../replay/testdata/*.scenario")
	require.NoError(f, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		all = append(all, string(text))
	}
	return all
}

// FuzzText: whatever a text holds, what was read of it is printed in one form, and that
// form is read back as it is, also by way of the binary form.
func FuzzText(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, _ := Parse(text)
		printed := Print(list)
		again, err := Parse(printed)
		require.NoError(t, err, "%s", printed)
		require.Equal(t, printed, Print(again))
		back, err := readAll(bytes.NewReader(toBinary(t, again, 0)))
		require.NoError(t, err)
		require.Equal(t, printed, Print(back))
	})
}

// FuzzBlock: whatever a block holds, what was read of it can be written and read again.
func FuzzBlock(f *testing.F) {
	for _, text := range seeds(f) {
		list, _ := Parse(text)
		enc := encoder{refs: map[string]uint64{}}
		for i := range list {
			enc.add(&list[i])
		}
		f.Add(enc.buf)
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		var file bytes.Buffer
		file.WriteString(magic)
		w := blockWriter{w: &file}
		require.NoError(t, w.write(statementsBlock, block))
		list, err := readAll(&file)
		require.Error(t, err, "there is no end mark")
		again, err := readAll(bytes.NewReader(toBinary(t, list, 7)))
		require.NoError(t, err)
		require.Equal(t, Print(list), Print(again))
		again, err = Parse(Print(list))
		require.NoError(t, err)
		require.Equal(t, Print(list), Print(again))
	})
}

// FuzzFile: no file makes the reader fail in another way than with an error.
func FuzzFile(f *testing.F) {
	for _, text := range seeds(f) {
		list, _ := Parse(text)
		f.Add(toBinary(f, list, 3))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		list, _ := readAll(bytes.NewReader(file))
		_ = Print(list)
	})
}
