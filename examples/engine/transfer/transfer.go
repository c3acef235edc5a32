package transfer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/taskstate"
)

//go:generate go tool stringer -type=Op -linecomment

// Op is the direction of a transfer.
type Op uint8

// The operations.
const (
	Write Op = iota // write
	Read            // read
)

// Transfer moves one buffer to or from one object of a peer. It is the task whose
// state callers ask for.
type Transfer struct {
	taskstate.Task

	op     Op
	peer   *Peer
	buffer *Buffer
	object Object
	slices []slice
	began  time.Duration
	done   chan struct{}

	left    atomic.Int64 // slices that are not at rest yet
	moved   atomic.Int64 // bytes delivered
	retries atomic.Int64 // attempts that failed and were made again
	stopped atomic.Bool

	mu   sync.Mutex
	err  error
	took time.Duration
}

// Start begins to move the whole buffer to or from an object of the same length.
// Until the transfer is done the buffer belongs to it.
func (p *Peer) Start(op Op, b *Buffer, object Object) (*Transfer, error) {
	if op > Read {
		return nil, fmt.Errorf("transfer: operation %d; use Write or Read", op)
	}
	if b.Len() == 0 || b.Len() != object.Bytes {
		return nil, fmt.Errorf("transfer: %v of %d bytes with object %q of %d: both must have the same length, at least 1",
			op, b.Len(), object.Name, object.Bytes)
	}
	for _, r := range p.rails {
		if _, ok := object.Keys[r.pair.Remote]; !ok {
			return nil, fmt.Errorf("transfer: object %q has no key for NIC %q of %s; open it again", object.Name, r.pair.Remote, p.info.Name)
		}
	}
	e := p.engine
	step := int64(e.cfg.SliceBytes)
	t := &Transfer{
		op: op, peer: p, buffer: b, object: object,
		slices: make([]slice, (b.Len()+step-1)/step),
		began:  e.ctl.Now(),
		done:   make(chan struct{}),
	}
	for i := range t.slices {
		offset := int64(i) * step
		t.slices[i] = slice{transfer: t, offset: offset, length: min(step, b.Len()-offset)}
	}
	t.left.Store(int64(len(t.slices)))
	if err := p.admit(t); err != nil {
		return nil, err
	}
	e.deal(t)
	return t, nil
}

// Wait waits until every byte is where it belongs, or the transfer has failed and
// nothing of it is on the wire any more. When ctx ends first the transfer is
// cancelled, and Wait still waits for the wire: the buffer is free afterwards.
func (t *Transfer) Wait(ctx context.Context) error {
	select {
	case <-t.done:
	case <-ctx.Done():
		t.fail(fmt.Errorf("%w: %w", ErrCancelled, context.Cause(ctx)))
		<-t.done
	}
	return t.Err()
}

// Cancel gives the transfer up. What is on the wire stays there until it
// completes or its QP is torn down; only then is the transfer done.
func (t *Transfer) Cancel() { t.fail(ErrCancelled) }

// Done is closed when the transfer is at rest.
func (t *Transfer) Done() <-chan struct{} { return t.done }

// Err returns why the transfer failed, nil if it did not so far.
func (t *Transfer) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// fail stops the transfer. The first error stays.
func (t *Transfer) fail(err error) {
	t.mu.Lock()
	if t.err == nil && t.left.Load() > 0 {
		t.err = fmt.Errorf("transfer: %v of object %q (%d bytes) with %s: %w", t.op, t.object.Name, t.object.Bytes, t.peer.info.Name, err)
		t.stopped.Store(true)
	}
	t.mu.Unlock()
	t.peer.engine.wakeAll()
}

// rest counts a slice that needs nothing more: delivered or given up, and off the
// wire.
func (t *Transfer) rest() {
	if t.left.Add(-1) > 0 {
		return
	}
	t.mu.Lock()
	t.took = t.peer.engine.ctl.Now() - t.began
	t.mu.Unlock()
	t.peer.forget(t)
	close(t.done)
}

// Report is what became of a transfer.
type Report struct {
	Op     Op
	Object string
	Bytes  int64 // length of the object
	Moved  int64 // bytes delivered
	// Checked is how many bytes were compared by checksum and found equal.
	Checked int64
	Took    time.Duration
	Retries int64
	// Task is the detailed state of the transfer's task.
	Task taskstate.Detail
	Err  error
}

// Report describes the transfer as it is now.
func (t *Transfer) Report() Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Report{
		Op: t.op, Object: t.object.Name, Bytes: t.object.Bytes,
		Moved: t.moved.Load(), Took: t.took, Retries: t.retries.Load(),
		Task: t.Detail(), Err: t.err,
	}
}

// staleMetadata reports whether the transfer failed because the peer no longer
// honours its keys.
func staleMetadata(err error) bool {
	var stale *metadataError
	return errors.As(err, &stale)
}
