package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/rdmagate/rdmagate/verbs"
)

// listed is what libibverbs answers.
func listed(devices map[string]opened, err error) func(*host) {
	return func(h *host) {
		h.openDevices = func() (map[string]opened, error) { return devices, err }
	}
}

func TestLibrary(t *testing.T) {
	const files = "its files are in place"
	runExamples(t, checkLibrary, []example{
		{name: "both are listed", with: listed(map[string]opened{"mlx5_0": {}, "mlx5_1": {}}, nil), ok: "loaded, lists 2 devices"},
		{
			name: "one has no provider", with: listed(map[string]opened{"mlx5_0": {}}, nil),
			want: []string{"FAULT mlx5_1: libibverbs does not list the device, though sysfs shows it. Its provider is mlx5."},
		},
		{
			name: "one has no provider that is known", with: listed(map[string]opened{"mlx5_0": {}}, nil),
			edit: func(t tree) { t.set("sys/class/infiniband/mlx5_1/device/uevent", "DRIVER=new") },
			want: []string{"FAULT mlx5_1: libibverbs does not list the device"},
		},
		{
			name: "one has no node", with: listed(map[string]opened{"mlx5_0": {}}, nil),
			edit: func(t tree) { t.drop("sys/class/infiniband_verbs/uverbs1") },
			ok:   "loaded, lists 1 device",
		},
		{
			name: "one is absent from the list and from /dev", with: listed(map[string]opened{"mlx5_0": {}}, nil),
			edit: func(t tree) { t.drop("dev/infiniband/uverbs1") },
			ok:   "loaded, lists 1 device",
		},
		{
			name: "one cannot be opened", with: listed(map[string]opened{"mlx5_0": {}, "mlx5_1": {err: syscall.EIO}}, nil),
			want: []string{"FAULT mlx5_1: input/output error"},
		},
		{
			name: "one cannot be opened, and its node neither", with: listed(map[string]opened{"mlx5_0": {}, "mlx5_1": {err: fs.ErrPermission}}, nil),
			edit: func(t tree) { t.drop("dev/infiniband/uverbs1") },
			ok:   "loaded",
		},
		{
			name: "no library", with: listed(nil, fmt.Errorf("dlopen: %w", verbs.ErrNoLibrary)),
			want: []string{"FAULT: dlopen: libibverbs cannot be loaded"},
		},
		{name: "no RDMA in the kernel", tree: "empty", with: listed(nil, syscall.ENOSYS), ok: "it can be loaded"},
		{name: "another error", with: listed(nil, syscall.ENOMEM), want: []string{"FAULT: cannot allocate memory"}},
		{name: "built without cgo", with: listed(nil, errors.ErrUnsupported), ok: files},
		{name: "not asked", ok: files},
		{name: "a sysfs alone", with: func(h *host) { h.root = nil }},
	})
}

// Where libibverbs is not asked, files tell.
func TestLibraryFiles(t *testing.T) {
	const triplet = "usr/lib/x86_64-linux-gnu/"
	const files = "its files are in place"
	runExamples(t, checkLibraryFiles, []example{
		{name: "in place", ok: files},
		{name: "no library", edit: func(t tree) { t.drop(triplet + "libibverbs.so.1") }, want: []string{"WARNING: libibverbs.so.1 is in none"}},
		{
			name: "elsewhere",
			edit: func(t tree) {
				t.drop("usr/lib")
				t.set("usr/local/lib/libibverbs.so.1", "")
				t.set("lib64/libibverbs/libmlx5-rdmav57.so", "")
			},
			ok: files,
		},
		{
			name: "no provider", edit: func(t tree) { t.drop(triplet + "libibverbs/libmlx5-rdmav34.so") },
			want: []string{"WARNING mlx5_0: libibverbs/libmlx5-rdmav*.so, is in none", "WARNING mlx5_1: libibverbs/libmlx5-rdmav*.so, is in none"},
		},
		{
			name: "a provider that nobody loads", edit: func(t tree) { t.set("etc/libibverbs.d/mlx5.driver", "# driver mlx5") },
			want: []string{`WARNING mlx5_0: no file in /etc/libibverbs.d has the line "driver mlx5"`, "WARNING mlx5_1: "},
		},
		{
			name: "a provider of another name", edit: func(t tree) { t.set("etc/libibverbs.d/mlx5.driver", "driver mlx4") },
			want: []string{"WARNING mlx5_0: no file", "WARNING mlx5_1: no file"},
		},
		{
			name: "Soft-RoCE",
			edit: func(t tree) {
				t.drop("sys/class/infiniband/mlx5_0")
				t.drop("sys/class/infiniband/mlx5_1/device")
				t.set("sys/class/infiniband/mlx5_1/parent", "eth0")
			},
			want: []string{"WARNING mlx5_1: librxe-rdmav*.so"},
		},
		{
			name: "devices of an unknown kind",
			edit: func(t tree) {
				t.drop("sys/class/infiniband/mlx5_0/device")
				t.set("sys/class/infiniband/mlx5_1/device/uevent", "DRIVER=new")
			},
			ok: files,
		},
		{name: "no device", tree: "empty", edit: func(t tree) { t.set("usr/lib64/libibverbs.so.1", "") }, ok: files},
	})
}
