package transfer

import (
	"errors"
	"fmt"
	"sync"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// store holds a server's objects. It is safe for concurrent use.
type store struct {
	host fabric.Host
	nics []fabric.NIC

	mu      sync.Mutex
	room    int64 // bytes that may still be allocated
	objects map[string]*stored
}

// stored is one object. It is sealed when its writer has checked what arrived.
type stored struct {
	buffer *Buffer
	sealed bool
}

// maxName is the longest name of an object, in bytes.
const maxName = 255

func (st *store) create(ask objectRequest) (Object, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case ask.Object == "" || len(ask.Object) > maxName:
		return Object{}, fmt.Errorf("object name of %d bytes: must be 1 to %d", len(ask.Object), maxName)
	case ask.Bytes < 1:
		return Object{}, fmt.Errorf("object %q of %d bytes: must be at least 1", ask.Object, ask.Bytes)
	case ask.Bytes > st.room:
		return Object{}, fmt.Errorf("object %q of %d bytes: there is room for %d; delete others or raise the server's limit", ask.Object, ask.Bytes, st.room)
	case st.objects[ask.Object] != nil:
		return Object{}, fmt.Errorf("object %q exists; delete it first, or choose another name", ask.Object)
	}
	b, err := NewBuffer(st.host, st.nics, int(ask.Bytes))
	if err != nil {
		return Object{}, err
	}
	st.room -= ask.Bytes
	st.objects[ask.Object] = &stored{buffer: b}
	return st.describe(ask.Object, b), nil
}

func (st *store) describe(name string, b *Buffer) Object {
	return Object{Name: name, Bytes: b.Len(), Keys: b.keys(st.nics)}
}

func (st *store) open(name string, unsealed bool) (Object, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	o, err := st.find(name)
	if err != nil {
		return Object{}, err
	}
	if !o.sealed && !unsealed {
		return Object{}, fmt.Errorf("object %q is still being written", name)
	}
	return st.describe(name, o.buffer), nil
}

func (st *store) find(name string) (*stored, error) {
	o := st.objects[name]
	if o == nil {
		return nil, fmt.Errorf("there is no object %q", name)
	}
	return o, nil
}

func (st *store) seal(name string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	o, err := st.find(name)
	if err == nil {
		o.sealed = true
	}
	return err
}

func (st *store) delete(name string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	o, err := st.find(name)
	if err != nil {
		return err
	}
	delete(st.objects, name)
	st.room += o.buffer.Len()
	return o.buffer.Close()
}

func (st *store) clear() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	var faults []error
	for _, o := range st.objects {
		st.room += o.buffer.Len()
		faults = append(faults, o.buffer.Close())
	}
	clear(st.objects)
	return errors.Join(faults...)
}

// checksums sums up a range of an object, slice by slice.
func (st *store) checksums(ask checksumsRequest) (checksumsReply, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	o, err := st.find(ask.Object)
	if err != nil {
		return checksumsReply{}, err
	}
	size := o.buffer.Len()
	if ask.SliceBytes < 1 || ask.Offset < 0 || ask.Length < 1 || ask.Offset > size || ask.Length > size-ask.Offset {
		return checksumsReply{}, fmt.Errorf("checksums of %d bytes from %d on, in slices of %d: object %q has %d bytes, and a slice at least 1",
			ask.Length, ask.Offset, ask.SliceBytes, ask.Object, size)
	}
	if ask.Length/int64(ask.SliceBytes) > maxSums {
		return checksumsReply{}, fmt.Errorf("checksums of %d bytes in slices of %d: one request may ask for %d sums; ask for less at once",
			ask.Length, ask.SliceBytes, maxSums)
	}
	return checksumsReply{checksums(o.buffer.Bytes()[ask.Offset:ask.Offset+ask.Length], ask.SliceBytes)}, nil
}
