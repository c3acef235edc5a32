package pages

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// checkLinks reports the relative links of a page, by its name in tree, that lead nowhere.
func checkLinks(tree fs.FS, name string) (faults []string) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return []string{err.Error()}
	}
	for _, l := range read(string(text)).links {
		if strings.Contains(l, "://") || strings.HasPrefix(l, "mailto:") {
			continue
		}
		file, heading, anchored := strings.Cut(l, "#")
		to := name
		if file != "" {
			to = path.Join(path.Dir(name), file)
		}
		if _, err := fs.Stat(tree, to); err != nil {
			faults = append(faults, fmt.Sprintf("%s: the link %s leads to no file", name, l))
			continue
		}
		if !anchored {
			continue
		}
		target, err := fs.ReadFile(tree, to)
		if err != nil || !slices.Contains(read(string(target)).headings, heading) {
			faults = append(faults, fmt.Sprintf("%s: the link %s leads to no heading", name, l))
		}
	}
	return faults
}
