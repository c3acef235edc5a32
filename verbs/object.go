package verbs

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rdmagate/rdmagate/verbs/internal/serial"
)

// object is what contexts, PDs, MRs, CQs, channels, QPs and readers have in
// common: a number, a name for errors, and who depends on whom.
//
// Locks are taken from child to parent, never the other way.
type object struct {
	id     uint64
	kind   string
	device string

	mu       sync.Mutex
	closed   bool
	parents  []*object
	children map[uint64]*object
}

func newObject(kind, device string) object {
	return object{id: serial.Next(), kind: kind, device: device}
}

// ID returns a number that names the object for the life of the process. Unlike
// a QP number or an address it is never given to another object.
func (o *object) ID() uint64 { return o.id }

// String names the object as errors do, such as "QP #5 of mlx5_0".
func (o *object) String() string {
	if !o.made() {
		return "a zero value"
	}
	return fmt.Sprintf("%s #%d of %s", o.kind, o.id, o.device)
}

// Closed reports whether the object has been closed. A zero value, which nobody
// created, counts as closed.
func (o *object) Closed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed || !o.made()
}

// made reports whether a function of this package created the object: a zero
// value has nothing in C behind it, and every call treats it as closed.
func (o *object) made() bool { return o.id != 0 }

// adopt makes o a child of the parents, which keeps them open until release. It
// fails if one of them is closed.
func (o *object) adopt(call string, parents ...*object) error {
	for i, p := range parents {
		if err := p.add(call, o); err != nil {
			for _, q := range parents[:i] {
				q.remove(o)
			}
			return err
		}
	}
	o.parents = parents
	return nil
}

// release undoes adopt.
func (o *object) release() {
	for _, p := range o.parents {
		p.remove(o)
	}
}

func (o *object) add(call string, child *object) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || !o.made() {
		return closedBy(call, o, fmt.Sprintf("open a new %s first", o.kind))
	}
	if o.children == nil {
		o.children = make(map[uint64]*object)
	}
	o.children[child.id] = child
	return nil
}

func (o *object) remove(child *object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.children, child.id)
}

// close runs destroy once. It refuses while there are children, leaves the
// object open when destroy fails, and is nil when the object is closed already.
// A second caller waits for the first.
func (o *object) close(call string, destroy func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || !o.made() {
		return nil
	}
	if len(o.children) > 0 {
		return o.inUse(call)
	}
	if err := destroy(); err != nil {
		return err
	}
	o.closed = true
	o.release()
	return nil
}

// inUse names the children that keep the object open. The caller holds o.mu.
func (o *object) inUse(call string) error {
	const most = 8
	ids := make([]uint64, 0, len(o.children))
	for id := range o.children {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	names := make([]string, 0, most+1)
	for i, id := range ids {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(ids)-most))
			break
		}
		names = append(names, fmt.Sprintf("%s #%d", o.children[id].kind, id))
	}
	list := strings.Join(names, ", ")
	return &Error{
		Call:   call,
		Object: o.String(),
		Reason: fmt.Sprintf("%d open objects depend on it: %s", len(ids), list),
		Remedy: "close those first",
		Err:    ErrInUse,
	}
}

// while runs f with the object kept from being closed, or fails if it is closed.
// It is for calls that are not on the data path.
func (o *object) while(call string, f func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || !o.made() {
		return closedBy(call, o, fmt.Sprintf("open a new %s", o.kind))
	}
	return f()
}
