package verbs

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// GUID is a 64-bit identifier that a vendor gave to a device.
type GUID uint64

// String returns the GUID in the usual form, four groups of four hex digits.
func (g GUID) String() string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", uint16(g>>48), uint16(g>>32), uint16(g>>16), uint16(g))
}

// Device describes one RDMA device of this machine. It is a plain value and
// holds nothing open.
type Device struct {
	Name      string // such as mlx5_0
	GUID      GUID
	NodeType  NodeType
	Transport Transport
	Uverbs    string // character device under /dev/infiniband, such as uverbs0
	SysfsPath string // directory of the device under /sys/class/infiniband
}

// Devices returns the RDMA devices of this machine. The list is empty, without
// an error, when the kernel has RDMA but no device.
//
// Where libibverbs is missing the error wraps [ErrNoLibrary]; where the kernel
// has no RDMA it wraps ENOSYS. Both match [errors.ErrUnsupported], as the error
// on other systems than Linux does.
func Devices() ([]Device, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	return lib.devices()
}

// Open opens the device of that name. If there is none, the error wraps ENODEV
// and names those that exist.
func Open(name string) (*Context, error) {
	lib, err := load()
	if err != nil {
		return nil, err
	}
	return lib.open(name)
}

// Open is the function [Open] with the device's name: a device that is gone since
// [Devices] gives an error that wraps ENODEV.
func (d Device) Open() (*Context, error) { return Open(d.Name) }

func (l *library) devices() ([]Device, error) {
	list, errno := l.sysDevices()
	if errno != 0 {
		return nil, &Error{Call: "ibv_get_device_list", Errno: errno, Remedy: remedyNoRDMA(errno)}
	}
	return list, nil
}

func (l *library) open(name string) (*Context, error) {
	list, err := l.devices()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(d Device) bool { return d.Name == name })
	if i < 0 {
		return nil, noDevice(name, list)
	}
	ptr, errno := l.sysOpen(name)
	if errno != 0 {
		node := "/dev/infiniband/" + list[i].Uverbs
		errno = openErrno(errno, node)
		return nil, &Error{Call: "ibv_open_device", Object: name, Errno: errno, Remedy: remedyOpen(errno, node)}
	}
	return newContext(l, ptr, false), nil
}

func noDevice(name string, list []Device) error {
	names := make([]string, len(list))
	for i, d := range list {
		names[i] = d.Name
	}
	remedy := "devices here: " + strings.Join(names, ", ")
	if len(names) == 0 {
		remedy = "this machine has no RDMA device; check with the command \"rdma link\""
	}
	return &Error{Call: "Open", Reason: fmt.Sprintf("there is no device %q", name), Errno: syscall.ENODEV, Remedy: remedy}
}

func remedyNoRDMA(errno syscall.Errno) string {
	switch {
	case errno == syscall.ENOSYS:
		return "the kernel has no RDMA support loaded: run \"modprobe ib_uverbs\" and the module of the NIC, such as mlx5_ib, or rdma_rxe for Soft-RoCE"
	case isPermission(errno):
		return "allow the process to read /sys/class/infiniband_verbs and to open netlink sockets"
	}
	return ""
}

// openErrno finds the permission error behind ENOENT: where opening the node
// fails, libibverbs goes on to try a link of udev's, and containers have none.
func openErrno(errno syscall.Errno, node string) syscall.Errno {
	if errno != syscall.ENOENT {
		return errno
	}
	f, err := os.OpenFile(node, os.O_RDWR, 0)
	switch {
	case err == nil:
		f.Close() // nothing was done with it
	case errors.Is(err, os.ErrPermission):
		return syscall.EACCES
	}
	return errno
}

func remedyOpen(errno syscall.Errno, node string) string {
	switch {
	case isPermission(errno):
		return "allow the process to read and write " + node + " (in a container, pass the device in)"
	case errno == syscall.ENOENT || errno == syscall.ENXIO || errno == syscall.ENODEV:
		return node + " is missing or has no device behind it: let udev create it, and pass it into the container if there is one"
	case errno == syscall.EIO:
		return "the device is being removed or reset; try again when it is back"
	}
	return ""
}

func isPermission(errno syscall.Errno) bool {
	return errors.Is(errno, syscall.EACCES) || errors.Is(errno, syscall.EPERM)
}
