package discover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// MaxNode is the highest number of a NUMA node; Linux knows 1024 nodes at most.
const MaxNode = 1023

// Node is a NUMA node, or the fact that it is not known. The zero value is
// unknown. In JSON it is the number, or null.
type Node struct {
	// ID is the node's number, 0 to [MaxNode]. It means nothing unless Known.
	ID int
	// Known is false where the kernel does not say: on machines with one node and
	// in many virtual machines it gives -1, and software devices have no node.
	Known bool
}

// String returns the number, or "unknown".
func (n Node) String() string {
	if !n.Known {
		return "unknown"
	}
	return strconv.Itoa(n.ID)
}

// MarshalJSON writes the number, or null.
func (n Node) MarshalJSON() ([]byte, error) {
	if !n.Known {
		return []byte("null"), nil
	}
	return json.Marshal(n.ID)
}

// UnmarshalJSON reads a number, or null. -1 is unknown too.
func (n *Node) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Node{}
		return nil
	}
	node, err := parseNode(string(data))
	if err != nil {
		return fmt.Errorf("discover: NUMA node: %w", err)
	}
	*n = node
	return nil
}

func parseNode(text string) (Node, error) {
	text = strings.TrimSpace(text)
	if text == "-1" {
		return Node{}, nil
	}
	id, err := decimal(text)
	if err != nil || id > MaxNode {
		return Node{}, fmt.Errorf("%.40q is neither -1 nor a number from 0 to %d", text, MaxNode)
	}
	return Node{ID: id, Known: true}, nil
}

// numa returns the node of a device. Sub-functions have no file of their own, and
// are where their PCI function is.
func (t tree) numa(dir, pci string, faults *faultList) Node {
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
			return Node{}
		}
		node, err := parseNode(text)
		if err != nil {
			faults.add("NUMA node: %s: %v", file, err)
		}
		return node
	}
	return Node{}
}
