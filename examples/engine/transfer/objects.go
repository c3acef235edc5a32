package transfer

import (
	"context"
	"errors"
	"fmt"
)

// Put writes a buffer to a new object of the peer, compares the checksums of both
// sides, and seals the object, so that others can get it. When it fails the object
// is gone again.
func (p *Peer) Put(ctx context.Context, name string, b *Buffer) (Report, error) {
	object, err := p.create(ctx, name, b.Len())
	if err != nil {
		return Report{Op: Write, Object: name, Bytes: b.Len(), Err: err}, err
	}
	report, err := p.move(ctx, Write, b, object)
	if err == nil {
		err = p.control.call(ctx, opSeal, objectRequest{Object: name}, nil)
	}
	if err != nil {
		err = errors.Join(err, p.drop(name))
	}
	report.Err = err
	return report, err
}

// Get reads an object of the peer into a new buffer and compares the checksums of
// both sides. The buffer is the caller's.
func (p *Peer) Get(ctx context.Context, name string) (*Buffer, Report, error) {
	object, err := p.open(ctx, name)
	if err != nil {
		return nil, Report{Op: Read, Object: name, Err: err}, err
	}
	b, err := p.engine.NewBuffer(int(object.Bytes))
	if err != nil {
		return nil, Report{Op: Read, Object: name, Bytes: object.Bytes, Err: err}, err
	}
	report, err := p.move(ctx, Read, b, object)
	if err != nil {
		return nil, report, errors.Join(err, b.Close())
	}
	return b, report, nil
}

// Delete frees an object of the peer.
func (p *Peer) Delete(ctx context.Context, name string) error {
	return p.control.call(ctx, opDelete, objectRequest{Object: name}, nil)
}

// drop deletes an object that was not completed, also when the caller's context
// has ended. Once the connection is over, or about to be, the peer drops it by itself.
func (p *Peer) drop(name string) error {
	if err := p.Delete(p.living, name); err != nil && p.control.failure() == nil && p.living.Err() == nil {
		return err
	}
	return nil
}

func (p *Peer) create(ctx context.Context, name string, bytes int64) (Object, error) {
	var o Object
	err := p.control.call(ctx, opCreate, objectRequest{Object: name, Bytes: bytes}, &o)
	return o, err
}

func (p *Peer) open(ctx context.Context, name string) (Object, error) {
	var o Object
	err := p.control.call(ctx, opOpen, objectRequest{Object: name}, &o)
	return o, err
}

// maxRefreshes is how often a transfer asks for the keys of its object again.
const maxRefreshes = 4

// move runs one transfer and checks what arrived. When the peer does not honour the
// keys of the object it asks for them again and starts over: each try is a transfer,
// and so a task, of its own.
func (p *Peer) move(ctx context.Context, op Op, b *Buffer, object Object) (Report, error) {
	for refreshes := 0; ; refreshes++ {
		t, err := p.Start(op, b, object)
		if err != nil {
			return Report{Op: op, Object: object.Name, Bytes: object.Bytes, Err: err}, err
		}
		err = t.Wait(ctx)
		report := t.Report()
		if err == nil {
			report.Checked, report.Err = p.check(ctx, b, object.Name)
			return report, report.Err
		}
		if !staleMetadata(err) || refreshes == maxRefreshes {
			return report, err
		}
		fresh, failure := p.open(ctx, object.Name)
		if failure != nil {
			return report, errors.Join(err, failure)
		}
		object = fresh
	}
}

// checkChunk is how many bytes one checksums request covers, rounded down to
// whole slices; and maxSums how many checksums one answer holds.
const (
	checkChunk = 16 << 20
	maxSums    = 1 << 16
)

// check compares a buffer with an object of the peer, slice by slice, and returns
// how many bytes were equal.
func (p *Peer) check(ctx context.Context, b *Buffer, name string) (int64, error) {
	step := int64(p.engine.cfg.SliceBytes)
	chunk := min(max(checkChunk/step, 1), maxSums) * step
	for offset := int64(0); offset < b.Len(); offset += chunk {
		n := min(chunk, b.Len()-offset)
		ask := checksumsRequest{Object: name, Offset: offset, Length: n, SliceBytes: int(step)}
		var theirs checksumsReply
		if err := p.control.call(ctx, opChecksums, ask, &theirs); err != nil {
			return offset, err
		}
		ours := checksums(b.Bytes()[offset:offset+n], int(step))
		if len(ours) != len(theirs.CRC32C) {
			return offset, fmt.Errorf("transfer: the peer sent %d checksums for %d slices of object %q", len(theirs.CRC32C), len(ours), name)
		}
		for i, local := range ours {
			if remote := theirs.CRC32C[i]; local != remote {
				at := offset + int64(i)*step
				return at, &MismatchError{Object: name, Offset: at, Length: min(step, b.Len()-at), Local: local, Remote: remote}
			}
		}
	}
	return b.Len(), nil
}
