package softroce

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// kernelMetaPackage depends on the current kernel of the release.
const kernelMetaPackage = "linux-image-amd64"

// kernelPackage is a stock kernel by its exact name, such as
// linux-image-6.1.0-57-amd64. The kernels for clouds have no RDMA.
var kernelPackage = regexp.MustCompile(`^linux-image-([0-9][0-9a-z.+~-]*-amd64)$`)

// resolveKernel returns the version of the current stock kernel, such as
// 6.1.0-57-amd64.
func resolveKernel(ctx context.Context) (string, error) {
	out, err := apt(ctx, "apt-cache", "show", "--no-all-versions", kernelMetaPackage)
	if err != nil {
		return "", err
	}
	return kernelFrom(out)
}

// kernelFrom reads the kernel's version from the record of the meta package.
func kernelFrom(record string) (string, error) {
	for line := range strings.Lines(record) {
		depends, found := strings.CutPrefix(line, "Depends:")
		if !found {
			continue
		}
		for _, dependency := range strings.Split(depends, ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(dependency), " ")
			match := kernelPackage.FindStringSubmatch(name)
			if match != nil && !strings.Contains(name, "cloud") {
				return match[1], nil
			}
		}
	}
	return "", fmt.Errorf("softroce: package %s depends on no stock kernel: the guest needs the package lists of Debian 12", kernelMetaPackage)
}

// unpackKernel downloads the kernel package of the version and unpacks it into
// dir/root, without installing anything.
func unpackKernel(ctx context.Context, version, dir string) (root string, err error) {
	download := exec.CommandContext(ctx, "apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", "linux-image-"+version)
	download.Dir = dir
	if _, err := finish(download); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, "linux-image-*.deb"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("softroce: expected one kernel package in %s, found %v", dir, files)
	}
	root = filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		return "", fmt.Errorf("softroce: unpacking the kernel: %w", err)
	}
	if _, err := finish(exec.CommandContext(ctx, "dpkg", "-x", files[0], root)); err != nil {
		return "", err
	}
	_, err = finish(exec.CommandContext(ctx, systemTool("depmod"), "-b", root, version))
	return root, err
}

// xzMagic begins the compressed kernel inside a kernel file.
var xzMagic = []byte("\xfd7zXZ\x00")

// unpackVmlinuz writes the kernel in a form that boots without decompressing
// itself, which takes seconds when emulated. A kernel that is not compressed
// with xz is taken as it is.
func unpackVmlinuz(ctx context.Context, from, to string) error {
	kernel, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("softroce: kernel package without a kernel: %w", err)
	}
	if at := bytes.Index(kernel, xzMagic); at >= 0 {
		xz := exec.CommandContext(ctx, "xz", "--decompress", "--stdout", "--single-stream")
		xz.Stdin = bytes.NewReader(kernel[at:])
		if kernel, err = xz.Output(); err != nil {
			return fmt.Errorf("softroce: unpacking the kernel: %w", err)
		}
	}
	if err := os.WriteFile(to, kernel, 0o644); err != nil {
		return fmt.Errorf("softroce: unpacking the kernel: %w", err)
	}
	return nil
}

// systemTool finds a program of /sbin, which is not in the PATH of every user.
func systemTool(name string) string {
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return name
}
