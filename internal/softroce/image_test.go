//go:build linux

package softroce

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const testKernel = "6.1.0-1-amd64"

func writeKernel(dir string) error {
	return os.WriteFile(filepath.Join(dir, "kernel"), []byte("kernel"), 0o644)
}

func TestCacheBuildsOnce(t *testing.T) {
	c := cache{dir: filepath.Join(t.TempDir(), "deep", "cache")}
	var builds atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			image, err := c.image(testKernel, func(dir string) error {
				builds.Add(1)
				return writeKernel(dir)
			})
			if assert.NoError(t, err) {
				assert.FileExists(t, image.Kernel, "an image that is returned is complete")
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, builds.Load(), "the first caller builds and the others wait")

	_, err := c.image("6.1.0-2-amd64", func(dir string) error { builds.Add(1); return writeKernel(dir) })
	require.NoError(t, err)
	assert.EqualValues(t, 2, builds.Load(), "another kernel needs another image")
}

func TestCacheFailedBuildLeavesNothing(t *testing.T) {
	c := cache{dir: t.TempDir()}
	_, err := c.image(testKernel, func(dir string) error {
		require.NoError(t, writeKernel(dir))
		return assert.AnError
	})
	require.ErrorIs(t, err, assert.AnError)
	left, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, "lock", left[0].Name(), "half an image must not stay")

	image, err := c.image(testKernel, writeKernel)
	require.NoError(t, err, "the next caller builds again")
	assert.FileExists(t, image.Kernel)
}

func TestFillTree(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte("content of "+name), 0o644))
		return path
	}
	tree := filepath.Join(dir, "tree")
	require.NoError(t, fillTree(tree, write("busybox"), []string{write("first.ko"), write("second.ko")}))

	order, err := os.ReadFile(filepath.Join(tree, "modules/order"))
	require.NoError(t, err)
	assert.Equal(t, "first.ko\nsecond.ko\n", string(order), "modules load in the order of their dependencies")
	second, err := os.ReadFile(filepath.Join(tree, "modules/second.ko"))
	require.NoError(t, err)
	assert.Equal(t, "content of second.ko", string(second))
	for _, name := range []string{"init", "bin/busybox"} {
		info, err := os.Stat(filepath.Join(tree, name))
		require.NoError(t, err)
		assert.NotZero(t, info.Mode()&0o100, "%s must be executable", name)
	}
}

func TestInitScript(t *testing.T) {
	assert.True(t, strings.HasPrefix(initScript, "#!/bin/busybox sh\n"), "busybox is the only program in the first file system")
	assert.Contains(t, initScript, " host /host", "the script mounts the file system under the tag of qemuArgs")
	check := exec.Command("sh", "-n")
	check.Stdin = strings.NewReader(initScript)
	out, err := check.CombinedOutput()
	assert.NoError(t, err, "the script must parse: %s", out)
	assert.Len(t, recipeHash(), 12)
}
