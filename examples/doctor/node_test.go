package main

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
)

func refused(err error) func(*host) {
	return func(h *host) {
		h.openNode = func(path string) error {
			if path == "/dev/infiniband/uverbs1" {
				return &fs.PathError{Op: "open", Path: path, Err: err}
			}
			return nil
		}
	}
}

func TestNodes(t *testing.T) {
	runExamples(t, checkNodes, []example{
		{name: "both", ok: "2 nodes under /dev/infiniband can be opened"},
		{
			name: "one is absent", edit: func(t tree) { t.drop("dev/infiniband/uverbs1") },
			want: []string{"FAULT mlx5_1: /dev/infiniband/uverbs1 does not exist here"},
		},
		{name: "one is forbidden", with: refused(fs.ErrPermission), want: []string{"FAULT mlx5_1: may not be read and written"}},
		{name: "one fails", with: refused(errors.New("input/output error")), want: []string{"FAULT mlx5_1: uverbs1: input/output error"}},
		{
			name: "sysfs has none for one", edit: func(t tree) { t.drop("sys/class/infiniband_verbs/uverbs0") },
			want: []string{"FAULT mlx5_0: No entry of /sys/class/infiniband_verbs belongs to it"},
		},
		{name: "without ib_uverbs", edit: func(t tree) { t.drop("sys/class/infiniband_verbs") }},
		{name: "a sysfs alone", with: func(h *host) { h.root, h.openNode = nil, nil }},
		{name: "no device", tree: "empty"},
		{name: "no device, but ib_uverbs", tree: "empty", edit: func(t tree) { t["sys/class/infiniband_verbs/"] = "" }},
	})
}

func TestNodeFix(t *testing.T) {
	machine := loadTree(t, "container")
	assert.NotContains(t, fix(t, machine.host(), checkNodes), "udevadm", "a container has no udev")
	machine.drop(".dockerenv")
	assert.Contains(t, fix(t, machine.host(), checkNodes), "udevadm")
	machine.set("run/.containerenv", "")
	assert.NotContains(t, fix(t, machine.host(), checkNodes), "udevadm")
}
