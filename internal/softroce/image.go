package softroce

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

//go:embed init.sh
var initScript string

// Image is a guest ready to boot.
type Image struct {
	Version   string // of the kernel, such as 6.1.0-57-amd64
	Kernel    string // file of the kernel
	Initramfs string // file of the first file system
}

// Prepare returns the guest's image, building it when the cache has none for
// the current kernel. The cache is rdmagate/softroce below [os.UserCacheDir]
// and may be deleted at any time. The Debian packages must be installed.
//
// Prepare is safe for concurrent use, also by several processes: one builds,
// the others wait. A build that fails or is interrupted leaves nothing behind.
func Prepare(ctx context.Context, progress io.Writer) (Image, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return Image{}, fmt.Errorf("softroce: the guest runs the host's binaries and needs linux/amd64, this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	missing, err := MissingPackages(ctx)
	if err != nil {
		return Image{}, err
	}
	if len(missing) > 0 {
		command := strings.Join(append(aptInstall, missing...), " ")
		return Image{}, fmt.Errorf("softroce: packages missing: %s: run as root: %s", strings.Join(missing, " "), command)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return Image{}, fmt.Errorf("softroce: cache directory: %w", err)
	}
	c := cache{dir: filepath.Join(base, "rdmagate", "softroce")}
	var image Image
	err = withFreshLists(ctx, progress, func() error {
		version, err := resolveKernel(ctx)
		if err != nil {
			return err
		}
		image, err = c.image(version, func(dir string) error {
			begin := time.Now()
			fmt.Fprintln(progress, "softroce: preparing the guest, once per kernel (about 20 s)")
			if err := buildImage(ctx, version, dir); err != nil {
				return err
			}
			fmt.Fprintf(progress, "softroce: guest with kernel %s prepared in %.0f s\n", version, time.Since(begin).Seconds())
			return nil
		})
		return err
	})
	return image, err
}

// recipeHash tells images apart that were built from the same kernel.
func recipeHash() string {
	sum := sha256.Sum256([]byte(initScript + strings.Join(modules, "\n")))
	return hex.EncodeToString(sum[:6])
}

// cache is a directory of images, each in a directory of its own.
type cache struct {
	dir string
}

// image returns the image for the kernel. If there is none yet, build fills a
// directory, which then becomes the image at once or not at all.
func (c cache) image(version string, build func(dir string) error) (Image, error) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return Image{}, fmt.Errorf("softroce: cache of the guest: %w", err)
	}
	final := filepath.Join(c.dir, version+"-"+recipeHash())
	image := Image{Version: version, Kernel: filepath.Join(final, "kernel"), Initramfs: filepath.Join(final, "initramfs")}

	lock, err := lockFile(filepath.Join(c.dir, "lock"))
	if err != nil {
		return Image{}, fmt.Errorf("softroce: cache of the guest: %w", err)
	}
	defer lock.Close()
	if _, err := os.Stat(final); err == nil {
		return image, nil
	}
	temp, err := os.MkdirTemp(c.dir, "building-")
	if err != nil {
		return Image{}, fmt.Errorf("softroce: cache of the guest: %w", err)
	}
	defer os.RemoveAll(temp)
	if err := build(temp); err != nil {
		return Image{}, err
	}
	if err := os.Rename(temp, final); err != nil {
		return Image{}, fmt.Errorf("softroce: cache of the guest: %w", err)
	}
	return image, nil
}

// buildImage makes the files of an image in dir.
func buildImage(ctx context.Context, version, dir string) error {
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return fmt.Errorf("softroce: building the guest: %w", err)
	}
	defer os.RemoveAll(work)
	root, err := unpackKernel(ctx, version, work)
	if err != nil {
		return err
	}
	if err := unpackVmlinuz(ctx, filepath.Join(root, "boot", "vmlinuz-"+version), filepath.Join(dir, "kernel")); err != nil {
		return err
	}
	files, err := moduleFiles(ctx, root, version)
	if err != nil {
		return err
	}
	tree := filepath.Join(work, "tree")
	busybox, err := exec.LookPath("busybox")
	if err == nil {
		err = fillTree(tree, busybox, files)
	}
	if err != nil {
		return fmt.Errorf("softroce: building the guest: %w", err)
	}
	return pack(ctx, tree, filepath.Join(dir, "initramfs"))
}

// fillTree makes the tree of the first file system: the init script, busybox,
// and the modules with a list of their order.
func fillTree(tree, busybox string, moduleFiles []string) error {
	for _, dir := range []string{"bin", "dev", "host", "modules", "over", "proc", "root", "sys"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(tree, "init"), []byte(initScript), 0o755); err != nil {
		return err
	}
	if err := copyFile(busybox, filepath.Join(tree, "bin", "busybox"), 0o755); err != nil {
		return err
	}
	var order strings.Builder
	for _, file := range moduleFiles {
		name := filepath.Base(file)
		if err := copyFile(file, filepath.Join(tree, "modules", name), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(&order, name)
	}
	return os.WriteFile(filepath.Join(tree, "modules", "order"), []byte(order.String()), 0o644)
}

func copyFile(from, to string, mode os.FileMode) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, mode)
}

// pack writes the tree as an archive that the kernel unpacks at boot.
func pack(ctx context.Context, tree, file string) error {
	var names []string
	err := filepath.WalkDir(tree, func(path string, _ os.DirEntry, err error) error {
		if name, _ := filepath.Rel(tree, path); err == nil && name != "." {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("softroce: packing the guest: %w", err)
	}
	cpio := exec.CommandContext(ctx, "cpio", "--quiet", "-o", "-H", "newc", "-R", "+0:+0", "-F", file)
	cpio.Dir = tree
	cpio.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	_, err = finish(cpio)
	return err
}
