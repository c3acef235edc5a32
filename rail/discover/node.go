package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/rdmagate/rdmagate/rail"
)

// maxNode is the highest number of a NUMA node; Linux knows 1024 nodes at most.
const maxNode = 1023

func parseNode(text string) (rail.Node, error) {
	text = strings.TrimSpace(text)
	if text == "-1" {
		return rail.Node{}, nil
	}
	id, err := decimal(text)
	if err != nil || id > maxNode {
		return rail.Node{}, fmt.Errorf("%.40q is neither -1 nor a number from 0 to %d", text, maxNode)
	}
	return rail.NodeOf(id), nil
}

// numa returns the node of a device. Sub-functions have no file of their own, and
// are where their PCI function is.
func (t tree) numa(dir, pci string, faults *faultList) rail.Node {
	files := []string{path.Join(dir, "device/numa_node")}
	if pci != "" {
		files = append(files, path.Join(busPCI, pci, "numa_node"))
	}
	for _, file := range files {
		text, err := t.line(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			faults.add("NUMA node: %v", err)
			return rail.Node{}
		}
		node, err := parseNode(text)
		if err != nil {
			faults.add("NUMA node: %s: %v", file, err)
		}
		return node
	}
	return rail.Node{}
}
