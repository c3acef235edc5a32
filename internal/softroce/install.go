package softroce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// packages of Debian that the guest and programs on libibverbs need.
var packages = []string{
	"qemu-system-x86",
	"busybox-static",
	"cpio",
	"kmod",
	"xz-utils",
	"iproute2",
	"rdma-core",
	"ibverbs-providers",
	"ibverbs-utils",
	"libibverbs-dev",
}

// aptInstall is the command that installs packages without a question. It
// waits for another package manager at work.
var aptInstall = []string{"apt-get", "install", "-y", "-q", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"}

// MissingPackages returns the Debian packages that the guest needs, or that are named
// besides, and the machine lacks.
func MissingPackages(ctx context.Context, also ...string) ([]string, error) {
	needed := slices.Concat(packages, also)
	args := append([]string{"-W", "-f", "${db:Status-Status} ${Package}\n"}, needed...)
	out, err := exec.CommandContext(ctx, "dpkg-query", args...).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // a package unknown to dpkg only sets the status
		return nil, fmt.Errorf("softroce: asking for installed packages: %w: the guest needs Debian 12 or a relative of it", err)
	}
	return missingFrom(string(out), needed), nil
}

// missingFrom reads lines of "status package" and returns the needed packages
// without a line that says installed.
func missingFrom(status string, needed []string) []string {
	installed := make(map[string]bool)
	lines := bufio.NewScanner(strings.NewReader(status))
	for lines.Scan() {
		if name, found := strings.CutPrefix(lines.Text(), "installed "); found {
			installed[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(needed), func(name string) bool { return installed[name] })
}

// Install installs the missing packages, and those named besides, for which it must
// run as root; with nothing missing it does nothing, as any user. Progress lines go to w. The
// package lists are updated only when the installation fails with those at hand.
func Install(ctx context.Context, w io.Writer, also ...string) error {
	missing, err := MissingPackages(ctx, also...)
	if err != nil || len(missing) == 0 {
		return err
	}
	command := append(slices.Clone(aptInstall), missing...)
	if os.Geteuid() != 0 {
		return fmt.Errorf("softroce: packages missing: %s: run as root: %s", strings.Join(missing, " "), strings.Join(command, " "))
	}
	fmt.Fprintf(w, "softroce: installing %s\n", strings.Join(missing, " "))
	return withFreshLists(ctx, w, func() error {
		_, err := apt(ctx, command...)
		return err
	})
}

// withFreshLists does what depends on the package lists; when that fails, it
// updates the lists and does it once more. Only root can update them.
func withFreshLists(ctx context.Context, w io.Writer, do func() error) error {
	err := do()
	if err == nil || ctx.Err() != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: if the package lists are missing or old, run as root: apt-get update", err)
	}
	fmt.Fprintln(w, "softroce: updating the package lists")
	if _, updateErr := apt(ctx, "apt-get", "update", "-q"); updateErr != nil {
		return errors.Join(err, updateErr)
	}
	return do()
}

// apt runs a command of the package manager without questions and returns its
// output. The error carries all that it printed.
func apt(ctx context.Context, command ...string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	return finish(cmd)
}
