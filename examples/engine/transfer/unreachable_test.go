package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

func TestTellsOfPath(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("connect: %w", errUnreachable), true},
		{syscall.EHOSTUNREACH, true},
		{syscall.ENETUNREACH, true},
		{fmt.Errorf("ibv_modify_qp: %w", syscall.ETIMEDOUT), true}, // the address was not resolved
		{syscall.ENOMEM, false},
		{syscall.ENETDOWN, false}, // of the own port, which has events
		{fmt.Errorf("%w: %w", ErrPeerGone, syscall.ETIMEDOUT), false},
		{fmt.Errorf("%w: %w", ErrPeerGone, io.EOF), false},
		{context.Canceled, false},
		{ErrClosed, false},
		{errors.New("2 QPs, 5 were asked for"), false},
	} {
		assert.Equal(t, tt.want, tellsOfPath(tt.err), "%v", tt.err)
	}
}

// failing makes the QPs of a host fail to connect, with the error that is set.
type failing struct {
	fabric.Host
	why *atomic.Pointer[error]
}

func (f failing) NICs() (all []fabric.NIC) {
	for _, n := range f.Host.NICs() {
		all = append(all, failingNIC{n, f.why})
	}
	return all
}

type failingNIC struct {
	fabric.NIC
	why *atomic.Pointer[error]
}

func (n failingNIC) NewQP(cq fabric.CQ, c fabric.QPConfig) (fabric.QP, error) {
	qp, err := n.NIC.NewQP(cq, c)
	return failingQP{qp, n.why}, err
}

type failingQP struct {
	fabric.QP
	why *atomic.Pointer[error]
}

func (q failingQP) Connect(a fabric.Address) error {
	if why := q.why.Load(); why != nil {
		return *why
	}
	return q.QP.Connect(a)
}

// What keeps an endpoint from being built confirms a suspicion only if it is news of the
// path.
func TestRefusedEndpoint(t *testing.T) {
	for _, tt := range []struct {
		why  error
		want cc.State
	}{{syscall.ENOMEM, cc.Suspect}, {syscall.EHOSTUNREACH, cc.Quarantined}} {
		t.Run(tt.why.Error(), func(t *testing.T) {
			var why atomic.Pointer[error]
			o := options{
				wrap:   func(h fabric.Host) fabric.Host { return failing{h, &why} },
				engine: func(c *Config) { c.BuildPause = time.Second },
			}
			bubble(t, o, func(t *testing.T, r *rig) {
				time.Sleep(3 * time.Second)
				undo, err := r.net.Block(r.a.NICs()[0], r.b.NICs()[0])
				require.NoError(t, err)
				_, err = r.peer.Put(r.limit(), "object", r.buffer(64<<10))
				require.NoError(t, err)
				require.NoError(t, undo())
				require.Equal(t, cc.Suspect, r.state(0))
				why.Store(&tt.why)
				time.Sleep(1500 * time.Millisecond)
				assert.Equal(t, tt.want, r.state(0))
				why.Store(nil)
			})
		})
	}
}
