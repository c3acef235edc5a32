package twohost

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/internal/clock"
)

// Stream repeats one transfer, with new data each time. With several engines each moves
// its part.
type Stream struct {
	op    transfer.Op
	parts []part
	done  []Transfer
	moved uint64 // transfers so far
}

// part is what one engine moves: memory of both hosts, registered with all NICs.
type part struct {
	peer   *transfer.Peer
	near   *transfer.Buffer
	object transfer.Object
	far    memory
}

// NewStream makes a stream of transfers as the load has them. Close it before the
// session.
func (s *Session) NewStream(l Load) (*Stream, error) {
	slices := l.Bytes / s.Numbers.SliceBytes
	if slices < len(s.peers) || slices%len(s.peers) != 0 {
		return nil, fmt.Errorf("twohost: transfers of %d bytes: must be whole slices of %d, in %d equal parts",
			l.Bytes, s.Numbers.SliceBytes, len(s.peers))
	}
	st := &Stream{op: l.Op}
	for _, p := range s.peers {
		bytes := slices / len(s.peers) * s.Numbers.SliceBytes
		near, err := transfer.NewBuffer(s.host, s.host.NICs(), bytes)
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
		st.parts = append(st.parts, part{peer: p, near: near})
		last := &st.parts[len(st.parts)-1]
		if err := last.far.alloc(s.bed.b, bytes); err != nil {
			return nil, errors.Join(err, st.Close())
		}
		last.object = last.far.object()
	}
	return st, nil
}

// run makes one transfer after another until it is stopped.
func (st *Stream) run(ctx context.Context, stopped <-chan struct{}) error {
	for {
		t, err := st.Move(ctx)
		if err != nil {
			return err
		}
		st.done = append(st.done, t)
		select {
		case <-stopped:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
	}
}

// Move makes one transfer. It lasts until every part has arrived; the data are compared
// after that.
func (st *Stream) Move(ctx context.Context) (Transfer, error) {
	st.moved++
	for _, p := range st.parts {
		p.stamp(st.op, st.moved)
	}
	t := Transfer{Began: clock.Now()}
	var under []*transfer.Transfer
	var faults []error
	for _, p := range st.parts {
		tr, err := p.peer.Start(st.op, p.near, p.object)
		if err != nil {
			faults = append(faults, err)
			break
		}
		under = append(under, tr)
	}
	for _, tr := range under {
		faults = append(faults, tr.Wait(ctx))
		t.Retries += tr.Report().Retries
	}
	t.Took = clock.Now() - t.Began
	for _, p := range st.parts {
		t.Wrong = t.Wrong || !bytes.Equal(p.near.Bytes(), p.far.mem)
	}
	return t, errors.Join(faults...)
}

// stampEvery is how many bytes there are from one stamp to the next. A packet has at least
// one, so data of an earlier transfer are never taken for new.
const stampEvery = 1 << 10

// stamp marks the data that the next transfer moves.
func (p part) stamp(op transfer.Op, number uint64) {
	source := p.near.Bytes()
	if op == transfer.Read {
		source = p.far.mem
	}
	for at := 0; at+8 <= len(source); at += stampEvery {
		binary.LittleEndian.PutUint64(source[at:], number<<32|uint64(at/stampEvery))
	}
}

// Close frees the memory of both hosts.
func (st *Stream) Close() error {
	var faults []error
	for _, p := range st.parts {
		faults = append(faults, p.near.Close(), p.far.close())
	}
	return errors.Join(faults...)
}
