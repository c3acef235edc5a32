package verbs

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Context is an open device. It is the parent of PDs, CQs, completion channels
// and the asynchronous event reader, and cannot be closed before them.
//
// All its methods are safe for concurrent use.
type Context struct {
	object
	lib     *library
	ptr     unsafe.Pointer
	foreign bool
	reader  chan struct{} // holds a token while there is no event reader
}

func newContext(l *library, ptr unsafe.Pointer, foreign bool) *Context {
	c := &Context{
		object:  newObject("context", l.sysDeviceName(ptr)),
		lib:     l,
		ptr:     ptr,
		foreign: foreign,
		reader:  make(chan struct{}, 1),
	}
	c.reader <- struct{}{}
	return c
}

// WrapContext makes a Context of a struct ibv_context that someone else opened
// with the libibverbs of this process, another binding for instance. Close never
// closes it; the owner must keep it open until then.
func WrapContext(ibvContext unsafe.Pointer) (*Context, error) {
	const call = "WrapContext"
	if ibvContext == nil {
		return nil, invalid(call, "", "the struct ibv_context pointer is nil", "pass what ibv_open_device returned, after checking it")
	}
	lib, err := load()
	if err != nil {
		return nil, err
	}
	return newContext(lib, ibvContext, true), nil
}

// Device returns the name of the device.
func (c *Context) Device() string { return c.device }

// Foreign reports whether the context was wrapped, not opened, here.
func (c *Context) Foreign() bool { return c.foreign }

// Close closes the device. It is refused, with an error that wraps [ErrInUse]
// and names them, while objects of the context are open. Closing twice is nil.
func (c *Context) Close() error {
	const call = "ibv_close_device"
	return c.close(call, func() error {
		if c.foreign {
			return nil
		}
		if errno := c.lib.sysClose(c.ptr); errno != 0 {
			return &Error{Call: call, Object: c.String(), Errno: errno}
		}
		return nil
	})
}

// DeviceAttr is what a device can do.
type DeviceAttr struct {
	Firmware         string
	NodeGUID         GUID
	SystemGUID       GUID
	MaxMRSize        uint64 // bytes
	PageSizes        uint64 // bit n set: pages of 2^n bytes
	VendorID         uint32
	PartID           uint32
	HardwareVersion  uint32
	Ports            uint8 // ports count from 1
	MaxQP            int
	MaxQPWR          int // work requests per queue
	MaxSGE           int // SGEs per work request
	MaxSGERead       int // SGEs per READ
	MaxCQ            int
	MaxCQE           int // completions per CQ
	MaxMR            int
	MaxPD            int
	MaxReadsIn       int   // READs and atomics that a QP can answer at once
	MaxReadsOut      int   // READs and atomics that a QP can have outstanding
	LocalACKDelay    uint8 // 4.096 us x 2^n, what the device may add to an ACK
	CapabilityFlags  uint32
	MaxPKeys         uint16
	MaxSRQ, MaxSRQWR int
}

// Query returns the attributes of the device.
func (c *Context) Query() (DeviceAttr, error) {
	const call = "ibv_query_device"
	var attr DeviceAttr
	err := c.while(call, func() error {
		var errno syscall.Errno
		if attr, errno = c.lib.sysQueryDevice(c.ptr); errno != 0 {
			return &Error{Call: call, Object: c.String(), Errno: errno}
		}
		return nil
	})
	return attr, err
}

// portError is the error of a call about a port, most often one that the device
// does not have.
func (c *Context) portError(call string, port uint8, errno syscall.Errno) error {
	return &Error{
		Call:   call,
		Object: fmt.Sprintf("port %d of %s", port, c.device),
		Errno:  errno,
		Remedy: "ports count from 1 to Ports of the device's attributes",
	}
}
