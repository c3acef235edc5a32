package discover

import (
	"io/fs"
	"os"
	"path"
	"syscall"
)

// liveSysfs is the kernel's sysfs. A GID table has up to 1024 files and a machine
// may have ten NICs, so files are read with three system calls each; an [os.File]
// takes eight, most of them to register it with the poller.
type liveSysfs struct {
	fs.FS
	root string
}

func openSysfs(root string) liveSysfs { return liveSysfs{os.DirFS(root), root} }

// readAtMost implements [boundedReader]. The kernel gives an attribute whole to one
// read that has room for a page.
func (s liveSysfs) readAtMost(name string, most int) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	fd, err := again(func() (int, error) {
		return syscall.Open(path.Join(s.root, name), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer syscall.Close(fd)
	data := make([]byte, most)
	n, err := again(func() (int, error) { return syscall.Read(fd, data) })
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data[:n], nil
}

// ReadLink makes [fs.ReadLink] see through to the directory.
func (s liveSysfs) ReadLink(name string) (string, error) { return fs.ReadLink(s.FS, name) }

// Lstat is the other half of [fs.ReadLinkFS].
func (s liveSysfs) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(s.FS, name) }

// again repeats a system call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}
