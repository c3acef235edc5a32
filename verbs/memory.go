package verbs

import (
	"fmt"
	"sync"
	"syscall"
)

// Memory is page-aligned memory outside the Go heap, fit for [PD.RegisterMR].
// It starts zeroed.
//
// Bytes and Close are safe for concurrent use; using the bytes after Close
// crashes the process, as with any unmapped memory. Close the MRs over it first.
type Memory struct {
	mu    sync.Mutex
	bytes []byte
}

// AllocMemory maps n bytes. n must be above 0; the kernel rounds up to pages.
func AllocMemory(n int) (*Memory, error) {
	if n <= 0 {
		return nil, invalid("AllocMemory", "", fmt.Sprintf("the length is %d", n), "ask for at least one byte")
	}
	b, err := mapMemory(n)
	if err != nil {
		return nil, err
	}
	return &Memory{bytes: b}, nil
}

// Bytes returns the memory, nil after Close.
func (m *Memory) Bytes() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}

// Close unmaps the memory. Closing twice is nil.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.bytes
	m.bytes = nil
	return unmapMemory(b)
}

// remedyMemory is the remedy of a call that pins memory.
func remedyMemory(errno syscall.Errno) string {
	if errno != syscall.ENOMEM {
		return ""
	}
	return "out of memory or of device resources, or above the limit of locked memory (" + lockedLimit() +
		"): raise it with \"ulimit -l\", LimitMEMLOCK= or the capability CAP_IPC_LOCK"
}

// remedyMR is the remedy of a refused registration.
func remedyMR(errno syscall.Errno, n int) string {
	switch {
	case errno == syscall.EFAULT:
		return "the memory is not mapped, not writable, or device memory that cannot be pinned; register memory of mmap or malloc"
	case errno == syscall.EINVAL:
		return fmt.Sprintf("check that %d bytes are not above MaxMRSize of the device", n)
	case isPermission(errno):
		return remedyMemory(syscall.ENOMEM)
	}
	return remedyMemory(errno)
}
