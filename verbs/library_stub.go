//go:build !linux || !cgo || 386 || arm || mips || mipsle

package verbs

import (
	"syscall"
	"unsafe"
)

// library is never made in this build: load always fails, so that none of the
// calls below is reached through an object.
type library struct{}

type gate struct{}

func load() (*library, error) { return nil, unsupported("Devices") }

func (*library) sysDevices() ([]Device, syscall.Errno)          { return nil, syscall.ENOSYS }
func (*library) sysOpen(string) (unsafe.Pointer, syscall.Errno) { return nil, syscall.ENOSYS }
func (*library) sysClose(unsafe.Pointer) syscall.Errno          { return syscall.ENOSYS }
func (*library) sysDeviceName(unsafe.Pointer) string            { return "" }
func (*library) sysAsyncFD(unsafe.Pointer) int                  { return -1 }
func (*library) sysAllocPD(unsafe.Pointer) (unsafe.Pointer, syscall.Errno) {
	return nil, syscall.ENOSYS
}
func (*library) sysDeallocPD(unsafe.Pointer) syscall.Errno { return syscall.ENOSYS }
func (*library) sysQueryDevice(unsafe.Pointer) (DeviceAttr, syscall.Errno) {
	return DeviceAttr{}, syscall.ENOSYS
}
func (*library) sysQueryPort(unsafe.Pointer, uint8) (PortAttr, syscall.Errno) {
	return PortAttr{}, syscall.ENOSYS
}
func (*library) sysQueryGID(unsafe.Pointer, uint8, uint32) (GIDEntry, syscall.Errno) {
	return GIDEntry{}, syscall.ENOSYS
}
func (*library) sysGIDTable(unsafe.Pointer, int) ([]GIDEntry, syscall.Errno) {
	return nil, syscall.ENOSYS
}
func (*library) sysRegMR(unsafe.Pointer, unsafe.Pointer, int, uint32) (unsafe.Pointer, uint32, uint32, syscall.Errno) {
	return nil, 0, 0, syscall.ENOSYS
}
func (*library) sysDeregMR(unsafe.Pointer) syscall.Errno { return syscall.ENOSYS }
func (*library) sysCreateChannel(unsafe.Pointer) (unsafe.Pointer, int, syscall.Errno) {
	return nil, -1, syscall.ENOSYS
}
func (*library) sysDestroyChannel(unsafe.Pointer) syscall.Errno { return syscall.ENOSYS }
func (*library) sysCreateCQ(unsafe.Pointer, int, uint64, unsafe.Pointer, int) (unsafe.Pointer, int, syscall.Errno) {
	return nil, 0, syscall.ENOSYS
}
func (*library) sysDestroyCQ(unsafe.Pointer) syscall.Errno { return syscall.ENOSYS }
func (*library) sysCreateQP(unsafe.Pointer, *QPInit, uint64) (unsafe.Pointer, uint32, QPCap, syscall.Errno) {
	return nil, 0, QPCap{}, syscall.ENOSYS
}
func (*library) sysModifyQP(unsafe.Pointer, *qpModify) syscall.Errno { return syscall.ENOSYS }
func (*library) sysQueryQP(unsafe.Pointer, int) (QPAttr, syscall.Errno) {
	return QPAttr{}, syscall.ENOSYS
}
func (*library) sysDestroyQP(unsafe.Pointer) syscall.Errno { return syscall.ENOSYS }
func (*library) sysNextAsync(unsafe.Pointer) (rawEvent, syscall.Errno) {
	return rawEvent{}, syscall.ENOSYS
}
func (*library) sysNextCQEvent(unsafe.Pointer) (cookie, address uint64, errno syscall.Errno) {
	return 0, 0, syscall.ENOSYS
}

func sysDescribeCQ(unsafe.Pointer) (owner unsafe.Pointer, depth int) { return nil, 0 }
func sysPoll(*gate, unsafe.Pointer, []WC) int                        { return -int(syscall.ENOSYS) }
func sysReqNotify(*gate, unsafe.Pointer, bool) int                   { return -int(syscall.ENOSYS) }
func sysShut(*gate, bool)                                            {}

func sysPostSend(unsafe.Pointer, *cSendWR, int) (int, syscall.Errno) { return 0, syscall.ENOSYS }
func sysPostRecv(unsafe.Pointer, *cRecvWR, int) (int, syscall.Errno) { return 0, syscall.ENOSYS }

func isGoMemory(unsafe.Pointer) bool { return false }
