package softroce

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKernelFrom(t *testing.T) {
	const head = "Package: linux-image-amd64\nVersion: 6.1.1-1\n"
	tests := []struct {
		name   string
		record string
		want   string // empty means an error
	}{
		{"with a version", head + "Depends: linux-image-6.1.0-44-amd64 (= 6.1.1-1)\nSection: kernel\n", "6.1.0-44-amd64"},
		{"without a version", head + "Depends: linux-image-6.1.0-9-amd64\n", "6.1.0-9-amd64"},
		{"backported", head + "Depends: linux-image-6.12.9+bpo-amd64 (= 6.12.9-1~bpo12+1)\n", "6.12.9+bpo-amd64"},
		{"among others", head + "Depends: linux-base (>= 4), linux-image-6.1.0-44-amd64 (= 6.1.1-1)\n", "6.1.0-44-amd64"},
		{"cloud kernel", head + "Depends: linux-image-6.1.0-44-cloud-amd64 (= 6.1.1-1)\n", ""},
		{"only recommended", head + "Recommends: linux-image-6.1.0-44-amd64\n", ""},
		{"pattern in the name", head + "Depends: linux-image-6.*-amd64\n", ""},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := kernelFrom(tt.record)
			if tt.want == "" {
				assert.ErrorContains(t, err, "no stock kernel")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestUnpackVmlinuzTakesOtherKernelsAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "vmlinuz"), filepath.Join(dir, "kernel")
	require.NoError(t, os.WriteFile(from, []byte("not compressed"), 0o644))
	require.NoError(t, unpackVmlinuz(t.Context(), from, to))
	got, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Equal(t, "not compressed", string(got))
	assert.ErrorContains(t, unpackVmlinuz(t.Context(), filepath.Join(dir, "absent"), to), "without a kernel")
}

func TestFilesFrom(t *testing.T) {
	got, err := filesFrom("builtin virtio_pci\ninsmod /r/lib/modules/6/net/a.ko \ninsmod /r/lib/modules/6/b.ko option=1\n\n")
	require.NoError(t, err)
	assert.Equal(t, []string{"/r/lib/modules/6/net/a.ko", "/r/lib/modules/6/b.ko"}, got)
	_, err = filesFrom("insmod /r/a.ko.xz\n")
	assert.ErrorContains(t, err, "/r/a.ko.xz is compressed")
}

func TestMissingFrom(t *testing.T) {
	var all string
	for _, name := range packages {
		all += "installed " + name + "\n"
	}
	assert.Empty(t, missingFrom(all, packages))
	assert.Equal(t, packages, missingFrom("", packages), "nothing installed means all missing")
	assert.Contains(t, missingFrom("config-files cpio\n", packages), "cpio", "a removed package is missing though its settings stay")
	assert.NotContains(t, missingFrom("installed cpio\n", packages), "cpio")
}
