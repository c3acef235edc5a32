package main

import (
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// maxFile is the most that is read of a file. Routing tables are the longest.
const maxFile = 1 << 20

// read returns the text of a file without the space around it. A file that is missing,
// cannot be read or is empty gives the empty text; a tree that is not looked at is
// nil and has no file.
func read(tree fs.FS, name string) string {
	if tree == nil {
		return ""
	}
	f, err := tree.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// readNumber returns a decimal number; 0 if there is none.
func readNumber(tree fs.FS, name string) int {
	n, err := strconv.Atoi(read(tree, name))
	if err != nil {
		return 0
	}
	return n
}

// exists reports whether there is a file or directory.
func exists(tree fs.FS, name string) bool {
	if tree == nil {
		return false
	}
	_, err := fs.Stat(tree, name)
	return err == nil
}

// list returns the names in a directory, sorted; none if it cannot be read.
func list(tree fs.FS, dir string) []string {
	if tree == nil {
		return nil
	}
	entries, _ := fs.ReadDir(tree, dir)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// uevent returns a value of a device's uevent file in sysfs, such as DRIVER.
func uevent(sys fs.FS, dir, key string) string {
	for line := range strings.Lines(read(sys, path.Join(dir, "uevent"))) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), key+"="); found {
			return value
		}
	}
	return ""
}

// container reports whether the files say that this is a container. Not all do.
func (h *host) container() bool {
	return exists(h.root, ".dockerenv") || exists(h.root, "run/.containerenv")
}
