package pages

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var target = regexp.MustCompile(`(?m)^([A-Za-z][A-Za-z -]*):(?:[^=]|$)`)

// checkCommand reports what is wrong with a line that is to be typed in at the root of the
// tree: a make target, package or flag that is not there. Other commands are left alone.
func checkCommand(tree fs.FS, line string) error {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " > ")
	words := strings.Fields(line)
	switch {
	case len(words) < 2:
		return nil
	case words[0] == "make":
		return checkMake(tree, words[1:])
	case words[0] == "go" && words[1] == "-C" && len(words) > 3:
		return checkGo(tree, words[2], words[3:])
	case words[0] == "go":
		return checkGo(tree, ".", words[1:])
	}
	return nil
}

func checkMake(tree fs.FS, words []string) error {
	makefile, err := fs.ReadFile(tree, "Makefile")
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range target.FindAllSubmatch(makefile, -1) {
		for _, name := range strings.Fields(string(m[1])) {
			known[name] = true
		}
	}
	for _, w := range words {
		name, _, variable := strings.Cut(w, "=")
		if variable {
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\s*\?=`).Match(makefile) {
				return fmt.Errorf("the Makefile has no variable %s", name)
			}
		} else if !known[name] {
			return fmt.Errorf("the Makefile has no target %s", name)
		}
	}
	return nil
}

// checkGo takes a go command that runs in a directory. The package is its first argument
// that is a path; what stands behind the package of go run are flags of the program.
func checkGo(tree fs.FS, dir string, words []string) error {
	verb := words[0]
	switch verb {
	case "run", "build", "test", "vet", "doc":
	default:
		return nil // it names no package
	}
	for i, w := range words[1:] {
		if w != "." && !strings.HasPrefix(w, "./") {
			continue
		}
		w = strings.TrimSuffix(w, "/...")
		sources, err := fs.Glob(tree, path.Join(dir, w, "*.go"))
		if err != nil {
			return err
		}
		if len(sources) == 0 && strings.HasSuffix(words[i+1], "/...") {
			if _, err := fs.Stat(tree, path.Join(dir, w)); err != nil {
				return fmt.Errorf("there is no directory %s", path.Join(dir, w))
			}
			return nil
		}
		if len(sources) == 0 {
			return fmt.Errorf("there is no package in %s", path.Join(dir, w))
		}
		if verb == "run" {
			return checkProgram(tree, sources, words[i+2:])
		}
		return nil
	}
	return nil
}

// checkProgram requires that the sources are a program's, and have its flags by name.
func checkProgram(tree fs.FS, sources, args []string) error {
	var all bytes.Buffer
	for _, s := range sources {
		if strings.HasSuffix(s, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(tree, s)
		if err != nil {
			return err
		}
		all.Write(text)
	}
	if !bytes.Contains(all.Bytes(), []byte("\npackage main\n")) {
		return fmt.Errorf("%s is no program", path.Dir(sources[0]))
	}
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if strings.HasPrefix(a, "-") && name != "" && !bytes.Contains(all.Bytes(), []byte(`"`+name+`"`)) {
			return fmt.Errorf("%s has no flag -%s", path.Dir(sources[0]), name)
		}
	}
	return nil
}
