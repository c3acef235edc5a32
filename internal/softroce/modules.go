package softroce

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// modules that the guest needs, without their dependencies. The guest cannot
// load any other later.
var modules = []string{
	// Devices and file systems of the emulator.
	"virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay",
	// RDMA. rdma_rxe computes checksums through crc32_generic and fails to add
	// a device without it, yet does not depend on it.
	"ib_core", "ib_uverbs", "rdma_ucm", "crc32_generic", "rdma_rxe",
	// The network between the NICs and the faults on it.
	"bridge", "veth", "dummy", "sch_netem", "sch_ingress", "cls_flower", "act_gact",
}

// moduleFiles returns the files of all modules and their dependencies below
// the unpacked kernel's root, in the order in which they load.
func moduleFiles(ctx context.Context, root, version string) ([]string, error) {
	var files []string
	for _, module := range modules {
		out, err := finish(exec.CommandContext(ctx, systemTool("modprobe"), "-d", root, "-S", version, "--show-depends", module))
		if err != nil {
			return nil, err
		}
		found, err := filesFrom(out)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

// filesFrom reads the output of modprobe --show-depends: lines of "insmod FILE
// OPTIONS" and "builtin NAME".
func filesFrom(out string) ([]string, error) {
	var files []string
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "insmod" {
			continue
		}
		if filepath.Ext(words[1]) != ".ko" {
			return nil, fmt.Errorf("softroce: kernel module %s is compressed: the guest needs a kernel of Debian 12", words[1])
		}
		files = append(files, words[1])
	}
	return files, nil
}
