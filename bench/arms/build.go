package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
)

// offTag is the build tag that takes the library's admission out.
const offTag = "rdmagate_off"

const packagePath = "github.com/rdmagate/rdmagate/bench/arms"

// program is the path of the program that was built with the tag, or without it.
func program(folder string, compiledOut bool) string {
	if compiledOut {
		return filepath.Join(folder, "engine-off")
	}
	return filepath.Join(folder, "engine")
}

// build builds this command twice into a folder.
func build(ctx context.Context, folder string) error {
	for _, off := range []bool{false, true} {
		args := []string{"build", "-buildvcs=false", "-o", program(folder, off)}
		if off {
			args = append(args, "-tags", offTag)
		}
		cmd := exec.CommandContext(ctx, "go", append(args, packagePath)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w: %s (run it with go -C bench run ./arms)", packagePath, err, bytes.TrimSpace(out))
		}
	}
	return sameBut(program(folder, false), program(folder, true))
}

// sameBut checks that two programs were built of the same modules in the same way, but for
// the tags.
func sameBut(path, other string) error {
	a, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	b, err := buildinfo.ReadFile(other)
	if err != nil {
		return err
	}
	if one, two := withoutTags(a), withoutTags(b); one != two {
		return fmt.Errorf("%s and %s differ in more than their tags:\n%s\n%s", path, other, one, two)
	}
	return nil
}

// withoutTags writes down how a program was built.
func withoutTags(b *debug.BuildInfo) string {
	settings := b.Settings
	b.Settings = nil
	for _, s := range settings {
		if s.Key != "-tags" {
			b.Settings = append(b.Settings, s)
		}
	}
	return b.String()
}
