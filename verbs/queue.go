package verbs

import (
	"sync"
	"unsafe"
)

// sendWRTail is what struct ibv_send_wr has behind wr.rdma.rkey on 64-bit
// machines: fields of other transports, which stay zero.
const sendWRTail = 76

// postQueue is one direction of a QP: a lock, and C memory in which work
// requests take the shape that libibverbs wants. The memory is laid out once: a
// chain of requests, each with room for all the SGEs that the QP allows.
//
// The lock orders posts with Close: a post never meets a freed QP.
type postQueue[C any] struct {
	mu     sync.Mutex
	closed bool
	memory []byte
	wrs    []C
	sges   []SGE
	maxSGE int
}

// newPostQueue lays out room for depth requests of maxSGE elements each. link
// chains a request to the address of the next one and of its SGEs.
func newPostQueue[C any](depth, maxSGE int, link func(c *C, next, sgList uintptr)) (*postQueue[C], error) {
	depth, room := max(depth, 1), max(maxSGE, 1)
	var c C
	size := int(unsafe.Sizeof(c))
	memory, err := mapMemory(depth * (size + room*int(unsafe.Sizeof(SGE{}))))
	if err != nil {
		return nil, err
	}
	base := unsafe.Pointer(&memory[0])
	q := &postQueue[C]{
		memory: memory,
		wrs:    unsafe.Slice((*C)(base), depth),
		sges:   unsafe.Slice((*SGE)(unsafe.Add(base, depth*size)), depth*room),
		maxSGE: maxSGE,
	}
	for i := range q.wrs {
		var next uintptr
		if i+1 < depth {
			next = uintptr(unsafe.Pointer(&q.wrs[i+1]))
		}
		link(&q.wrs[i], next, uintptr(unsafe.Pointer(&q.sges[i*room])))
	}
	return q, nil
}

// put writes the SGEs of request i and returns how many there are.
func (q *postQueue[C]) put(i int, first *SGE, more []SGE) int32 {
	n := sges(first, more)
	if n == 0 {
		return 0
	}
	at := i * max(q.maxSGE, 1)
	q.sges[at] = *first
	copy(q.sges[at+1:], more)
	return int32(n)
}

// free ends posting and gives the memory back. The caller holds the lock.
func (q *postQueue[C]) free() {
	q.closed = true
	unmapMemory(q.memory)
	q.memory, q.wrs, q.sges = nil, nil, nil
}
