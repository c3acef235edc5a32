package softroce

import (
	"encoding/binary"
	"os"
	"syscall"
)

// askQdisc asks the kernel for the root queue of an interface, with its statistics.
func askQdisc(index int) ([]byte, error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_ROUTE)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer syscall.Close(fd)
	kernel := &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}
	if err := syscall.Sendto(fd, qdiscRequest(index), 0, kernel); err != nil {
		return nil, os.NewSyscallError("sendto", err)
	}
	answer := make([]byte, 8192)
	n, _, err := syscall.Recvfrom(fd, answer, 0)
	if err != nil {
		return nil, os.NewSyscallError("recvfrom", err)
	}
	return answer[:n], nil
}

// qdiscRequest is RTM_GETQDISC for the root of an interface. Without NLM_F_ECHO the
// answer goes to listeners only.
func qdiscRequest(index int) []byte {
	const echo, root = 8, 0xffffffff // NLM_F_ECHO, TC_H_ROOT
	order := binary.NativeEndian
	m := make([]byte, headerBytes+tcmsgBytes)
	order.PutUint32(m, uint32(len(m)))
	order.PutUint16(m[4:], syscall.RTM_GETQDISC)
	order.PutUint16(m[6:], syscall.NLM_F_REQUEST|echo)
	order.PutUint32(m[headerBytes+4:], uint32(index))
	order.PutUint32(m[headerBytes+12:], root)
	return m
}
