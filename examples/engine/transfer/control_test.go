package transfer

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A peer that takes the connection and never reads.
func TestConnectToAPeerThatDoesNotRead(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit time.Duration // of the context
		after time.Duration
		err   error
	}{
		{"the context ends", 200 * time.Millisecond, 200 * time.Millisecond, context.DeadlineExceeded},
		{"the context does not end", time.Hour, controlTimeout, ErrPeerGone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startRig(t, options{})
				near, far := net.Pipe()
				defer far.Close()
				ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
				defer cancel()
				began := time.Now()
				_, err := r.engine.Connect(ctx, near)
				require.ErrorIs(t, err, tc.err)
				assert.Equal(t, tc.after, time.Since(began), "time until Connect gave up")
			})
		})
	}
}

// A context that ends while others write spoils nothing for them.
func TestCancelledRequestLeavesTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := newControl(near)
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancelled, served := make(chan error, 2), make(chan error, 1)
		for range 2 { // one writes, the other waits to write
			go func() { cancelled <- c.call(ctx, opOpen, nothing{}, nil) }()
		}
		synctest.Wait()
		cancel()
		for range 2 {
			require.ErrorIs(t, <-cancelled, context.Canceled)
		}
		go func() { served <- c.call(t.Context(), opSeal, nothing{}, nil) }()
		lines := newLines(far)
		require.True(t, lines.Scan(), "the connection must stand")
		assert.JSONEq(t, `{"id":3,"op":"seal","body":{}}`, lines.Text(), "nothing of the cancelled requests was sent")
		go io.WriteString(far, `{"id":3}`+"\n")
		require.NoError(t, <-served)
	})
}

// A busy peer that answers others is not gone, however long one answer takes.
func TestBusyPeerIsNotGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := newControl(near)
		defer c.Close()
		slow := make(chan error, 1)
		go func() { slow <- c.call(t.Context(), opCreate, nothing{}, nil) }()
		lines := newLines(far)
		require.True(t, lines.Scan())
		for range 5 {
			time.Sleep(controlTimeout - time.Second)
			io.WriteString(far, `{"id":99}`+"\n")
		}
		io.WriteString(far, `{"id":1}`+"\n")
		require.NoError(t, <-slow)
	})
}

// A peer that freezes: the control connection stands and answers nothing.
func TestFrozenPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRig(t, options{})
		near, outer := net.Pipe()
		inner, far := net.Pipe()
		go r.server.Serve(far)
		var frozen atomic.Bool
		pump := func(dst, src net.Conn) {
			defer dst.Close()
			buf := make([]byte, 65536)
			for {
				n, err := src.Read(buf)
				if err != nil {
					return
				}
				if frozen.Load() {
					continue
				}
				if _, err := dst.Write(buf[:n]); err != nil {
					return
				}
			}
		}
		go pump(inner, outer)
		go pump(outer, inner)
		p, err := r.engine.Connect(t.Context(), near)
		require.NoError(t, err)
		sent := r.buffer(1 << 20)
		frozen.Store(true)
		p.rails[0].retire(p.rails[0].endpoint.Load()) // a builder waits too
		began := time.Now()
		_, err = p.Put(t.Context(), "x", sent)
		require.ErrorIs(t, err, ErrPeerGone)
		assert.LessOrEqual(t, time.Since(began), controlTimeout, "the time that a peer may be silent")
		<-p.Lost()
		began = time.Now()
		p.Close()
		assert.Less(t, time.Since(began), time.Second, "closing does not wait for a peer that is gone")
	})
}

// Closing the peer of a frozen machine takes everything back at once.
func TestCloseAFrozenPeer(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		p := r.peer
		<-p.control.writing // nobody gets to write any more
		p.rails[0].retire(p.rails[0].endpoint.Load())
		began := time.Now()
		p.Close()
		assert.Less(t, time.Since(began), time.Second)
		r.nothingInFlight()
	})
}
