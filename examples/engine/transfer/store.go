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

// stored is one object. Up to the moment when its writer has checked what arrived,
// and seals it, it is the writer's alone.
type stored struct {
	buffer *Buffer
	writer *session // nil once it is sealed
}

// maxName is the longest name of an object, in bytes.
const maxName = 255

func (st *store) create(ask objectRequest, writer *session) (Object, error) {
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
	st.objects[ask.Object] = &stored{buffer: b, writer: writer}
	return st.describe(ask.Object, b), nil
}

func (st *store) describe(name string, b *Buffer) Object {
	return Object{Name: name, Bytes: b.Len(), Keys: b.keys(st.nics)}
}

func (st *store) open(name string, asker *session) (Object, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	o, err := st.find(name, asker)
	if err != nil {
		return Object{}, err
	}
	return st.describe(name, o.buffer), nil
}

// find returns an object that is sealed, or that the asker is writing.
func (st *store) find(name string, asker *session) (*stored, error) {
	o := st.objects[name]
	switch {
	case o == nil:
		return nil, fmt.Errorf("there is no object %q", name)
	case o.writer != nil && o.writer != asker:
		return nil, fmt.Errorf("object %q is still being written, by another session; ask again when it is sealed", name)
	}
	return o, nil
}

func (st *store) seal(name string, writer *session) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	o, err := st.find(name, writer)
	if err == nil && o.writer == nil {
		err = fmt.Errorf("object %q is sealed already", name)
	}
	if err == nil {
		o.writer = nil
	}
	return err
}

func (st *store) delete(name string, asker *session) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, err := st.find(name, asker); err != nil {
		return err
	}
	return st.drop(name)
}

// abandon deletes what a session has not sealed.
func (st *store) abandon(writer *session) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	var faults []error
	for name, o := range st.objects {
		if o.writer == writer {
			faults = append(faults, st.drop(name))
		}
	}
	return errors.Join(faults...)
}

// drop frees an object. The caller holds st.mu.
func (st *store) drop(name string) error {
	o := st.objects[name]
	delete(st.objects, name)
	st.room += o.buffer.Len()
	return o.buffer.Close()
}

func (st *store) clear() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	var faults []error
	for name := range st.objects {
		faults = append(faults, st.drop(name))
	}
	return errors.Join(faults...)
}

// checksums sums up a range of an object, slice by slice.
func (st *store) checksums(ask checksumsRequest, asker *session) (checksumsReply, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	o, err := st.find(ask.Object, asker)
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
