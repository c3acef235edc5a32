package discover

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The quick way gives what the way through the file system gives.
func TestLiveSysfsReads(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{"line": "4: ACTIVE\n", "empty": "", "page": strings.Repeat("x", maxFile), "huge": strings.Repeat("x", 2*maxFile)} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "dir"), 0o755))
	require.NoError(t, os.Symlink("line", filepath.Join(root, "link")))
	quick, slow := tree{openSysfs(root)}, tree{os.DirFS(root)}
	for _, name := range []string{"line", "link", "empty", "page", "huge", "dir", "absent", "dir/absent", "line/below"} {
		got, err := quick.line(name)
		want, wantErr := slow.line(name)
		assert.Equal(t, want, got, name)
		assert.Equal(t, cause(wantErr), cause(err), name)
	}
	_, err := quick.line("absent")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = quick.line("../" + filepath.Base(root) + "/line")
	assert.ErrorIs(t, err, fs.ErrInvalid, "no way out of the tree")

	target, err := fs.ReadLink(quick, "link")
	require.NoError(t, err)
	assert.Equal(t, "line", target)
}

// cause is what is wrong, without the path.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

func TestAgain(t *testing.T) {
	calls := 0
	n, err := again(func() (int, error) {
		if calls++; calls < 3 {
			return 0, syscall.EINTR
		}
		return 7, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 7, n)
	assert.Equal(t, 3, calls)
}
