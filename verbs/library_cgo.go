//go:build linux && cgo && !386 && !arm && !mips && !mipsle

package verbs

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"encoding/binary"
	"sync"
	"syscall"
	"unsafe"
)

// library is a loaded libibverbs: the table of its functions, in C memory. It is
// never unloaded.
type library struct {
	table *C.struct_rgv_table
}

// soname is what rdma-core calls the library, and debianPackage what brings it.
const (
	soname     = "libibverbs.so.1"
	howInstall = "install it: package libibverbs1 with ibverbs-providers (Debian, Ubuntu) or libibverbs (Fedora, RHEL, SUSE)"
)

// load loads libibverbs, once if it succeeds: a later call finds a library that
// was installed meanwhile.
var load = func() func() (*library, error) {
	var mu sync.Mutex
	var loaded *library
	return func() (*library, error) {
		mu.Lock()
		defer mu.Unlock()
		if loaded != nil {
			return loaded, nil
		}
		lib, err := loadSO(soname)
		if err == nil {
			loaded = lib
		}
		return lib, err
	}
}()

func loadSO(name string) (*library, error) {
	const whyLen = 256
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	why := (*C.char)(C.calloc(1, whyLen))
	defer C.free(unsafe.Pointer(why))
	handle := C.rgv_dlopen(cname, why, whyLen)
	if handle == nil {
		return nil, &Error{Call: "dlopen", Object: name, Reason: C.GoString(why), Remedy: howInstall, Err: ErrNoLibrary}
	}
	return fillTable(name, nil, handle)
}

// fillTable takes the functions from a resolver with dlsym's shape, or from
// dlsym itself if that is nil.
func fillTable(name string, resolver, handle unsafe.Pointer) (*library, error) {
	table := (*C.struct_rgv_table)(C.calloc(1, C.sizeof_struct_rgv_table))
	if missing := C.rgv_fill(table, C.rgv_resolver(resolver), handle); missing != nil {
		C.free(unsafe.Pointer(table))
		return nil, &Error{
			Call:   "dlsym",
			Object: name,
			Reason: "the library has no function " + C.GoString(missing),
			Remedy: "update rdma-core",
			Err:    ErrNoLibrary,
		}
	}
	return &library{table: table}, nil
}

func (l *library) sysDevices() ([]Device, syscall.Errno) {
	var list *C.struct_rgv_device
	var n C.int
	if errno := C.rgv_devices(l.table, &list, &n); errno != 0 {
		return nil, syscall.Errno(errno)
	}
	defer C.free(unsafe.Pointer(list))
	devices := make([]Device, n)
	for i := range devices {
		d := unsafe.Slice(list, n)[i]
		devices[i] = Device{
			Name:      C.GoString(&d.name[0]),
			GUID:      GUID(d.guid),
			NodeType:  NodeType(d.node_type),
			Transport: Transport(d.transport),
			Uverbs:    C.GoString(&d.uverbs[0]),
			SysfsPath: C.GoString(&d.path[0]),
		}
	}
	return devices, 0
}

func (l *library) sysOpen(name string) (unsafe.Pointer, syscall.Errno) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var ctx *C.struct_ibv_context
	errno := C.rgv_open(l.table, cname, &ctx)
	return unsafe.Pointer(ctx), syscall.Errno(errno)
}

func (l *library) sysClose(ctx unsafe.Pointer) syscall.Errno {
	return syscall.Errno(C.rgv_close(l.table, (*C.struct_ibv_context)(ctx)))
}

func (l *library) sysDeviceName(ctx unsafe.Pointer) string {
	var d C.struct_rgv_device
	C.rgv_describe(l.table, (*C.struct_ibv_context)(ctx).device, &d)
	return C.GoString(&d.name[0])
}

func (l *library) sysAsyncFD(ctx unsafe.Pointer) int {
	return int((*C.struct_ibv_context)(ctx).async_fd)
}

func (l *library) sysQueryDevice(ctx unsafe.Pointer) (DeviceAttr, syscall.Errno) {
	var a C.struct_ibv_device_attr
	if errno := C.rgv_query_device(l.table, (*C.struct_ibv_context)(ctx), &a); errno != 0 {
		return DeviceAttr{}, syscall.Errno(errno)
	}
	return DeviceAttr{
		Firmware:        C.GoString(&a.fw_ver[0]),
		NodeGUID:        guid(unsafe.Pointer(&a.node_guid)),
		SystemGUID:      guid(unsafe.Pointer(&a.sys_image_guid)),
		MaxMRSize:       uint64(a.max_mr_size),
		PageSizes:       uint64(a.page_size_cap),
		VendorID:        uint32(a.vendor_id),
		PartID:          uint32(a.vendor_part_id),
		HardwareVersion: uint32(a.hw_ver),
		Ports:           uint8(a.phys_port_cnt),
		MaxQP:           int(a.max_qp),
		MaxQPWR:         int(a.max_qp_wr),
		MaxSGE:          int(a.max_sge),
		MaxSGERead:      int(a.max_sge_rd),
		MaxCQ:           int(a.max_cq),
		MaxCQE:          int(a.max_cqe),
		MaxMR:           int(a.max_mr),
		MaxPD:           int(a.max_pd),
		MaxReadsIn:      int(a.max_qp_rd_atom),
		MaxReadsOut:     int(a.max_qp_init_rd_atom),
		LocalACKDelay:   uint8(a.local_ca_ack_delay),
		CapabilityFlags: uint32(a.device_cap_flags),
		MaxPKeys:        uint16(a.max_pkeys),
		MaxSRQ:          int(a.max_srq),
		MaxSRQWR:        int(a.max_srq_wr),
	}, 0
}

// guid reads a GUID in network byte order.
func guid(p unsafe.Pointer) GUID {
	return GUID(binary.BigEndian.Uint64((*[8]byte)(p)[:]))
}

func (l *library) sysQueryPort(ctx unsafe.Pointer, port uint8) (PortAttr, syscall.Errno) {
	var a C.struct_ibv_port_attr
	if errno := C.rgv_query_port(l.table, (*C.struct_ibv_context)(ctx), C.uint8_t(port), &a); errno != 0 {
		return PortAttr{}, syscall.Errno(errno)
	}
	return PortAttr{
		State:      PortState(a.state),
		LinkLayer:  LinkLayer(a.link_layer),
		MaxMTU:     MTU(a.max_mtu),
		ActiveMTU:  MTU(a.active_mtu),
		GIDs:       int(a.gid_tbl_len),
		PKeys:      int(a.pkey_tbl_len),
		MaxMessage: uint32(a.max_msg_sz),
		LID:        uint16(a.lid),
		SMLID:      uint16(a.sm_lid),
		LMC:        uint8(a.lmc),
		PhysState:  uint8(a.phys_state),
		Width:      uint8(a.active_width),
		Speed:      uint8(a.active_speed),
	}, 0
}

func (l *library) sysQueryGID(ctx unsafe.Pointer, port uint8, index uint32) (GIDEntry, syscall.Errno) {
	var e C.struct_ibv_gid_entry
	errno := C.rgv_query_gid(l.table, (*C.struct_ibv_context)(ctx), C.uint8_t(port), C.uint32_t(index), &e)
	if errno != 0 {
		return GIDEntry{}, syscall.Errno(errno)
	}
	return gidEntry(&e), 0
}

func (l *library) sysGIDTable(ctx unsafe.Pointer, most int) ([]GIDEntry, syscall.Errno) {
	if most == 0 {
		return nil, 0
	}
	table := make([]C.struct_ibv_gid_entry, most)
	n := C.rgv_gid_table(l.table, (*C.struct_ibv_context)(ctx), &table[0], C.size_t(most))
	if n < 0 {
		return nil, syscall.Errno(-n)
	}
	entries := make([]GIDEntry, n)
	for i := range entries {
		entries[i] = gidEntry(&table[i])
	}
	return entries, 0
}

func gidEntry(e *C.struct_ibv_gid_entry) GIDEntry {
	return GIDEntry{
		Index:   uint32(e.gid_index),
		Port:    uint8(e.port_num),
		GID:     GID(e.gid),
		Type:    GIDType(e.gid_type),
		IfIndex: uint32(e.ndev_ifindex),
	}
}
