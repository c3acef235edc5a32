package transfer

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/rdmagate/rdmagate/verbs"
)

func TestChecksumMismatch(t *testing.T) {
	r := newRig(t, options{})
	sent := r.buffer(1 << 20)
	_, err := r.peer.Put(r.limit(), "object", sent)
	require.NoError(t, err)
	r.stored("object")[3*(64<<10)+5] ^= 1

	_, err = r.peer.check(r.limit(), sent, "object")
	var mismatch *MismatchError
	require.ErrorAs(t, err, &mismatch)
	assert.EqualValues(t, 3*(64<<10), mismatch.Offset, "the slice with the changed byte")
	assert.EqualValues(t, 64<<10, mismatch.Length)
	assert.ErrorContains(t, err, `object "object" differs at bytes 196608 to 262143`)
}

// A key that the peer no longer honours is asked for again.
func TestStaleKeys(t *testing.T) {
	// In windows that hold all slices: one that still waits would be CONGESTED.
	r := newRig(t, options{cc: func(c *cc.Config) { c.StartWindowBytes = 1 << 20 }})
	sent := r.buffer(1 << 20)
	_, err := r.peer.Put(r.limit(), "object", sent)
	require.NoError(t, err)
	stale, err := r.peer.open(r.limit(), "object")
	require.NoError(t, err)
	for nic, key := range stale.Keys {
		stale.Keys[nic] = Key{Addr: key.Addr, RKey: key.RKey ^ 0x5555}
	}

	tr, err := r.peer.Start(Read, r.buffer(1<<20), stale)
	require.NoError(t, err)
	require.ErrorContains(t, tr.Wait(r.limit()), "RemoteMetadata")
	assert.Equal(t, taskstate.Unknown, tr.State(), "a stale key says nothing about a path: %v", tr.Detail())

	got := r.buffer(1 << 20)
	report, err := r.peer.move(r.limit(), Read, got, stale)
	require.NoError(t, err, "fresh keys make the second try succeed")
	assert.EqualValues(t, 1<<20, report.Checked)
	assert.True(t, string(sent.Bytes()) == string(got.Bytes()), "the bytes must be those of the object")
	assert.NotZero(t, r.classes()[classify.ClassRemoteMetadata])
	r.nothingInFlight()
}

// A local mistake fails the transfer at once: another rail would not help.
func TestWrongLocalKey(t *testing.T) {
	h := &hooks{post: func(qp fabric.QP, wrs []verbs.SendWR) (int, error) {
		for i := range wrs {
			wrs[i].SGE.LKey ^= 0x5555
		}
		return qp.PostSend(wrs)
	}}
	bubble(t, options{wrap: h.wrap, cc: wide}, func(t *testing.T, r *rig) {
		report, err := r.peer.Put(r.limit(), "object", r.buffer(64<<10))
		require.ErrorContains(t, err, "LocalConfiguration")
		assert.Zero(t, report.Retries)
		assert.Equal(t, taskstate.Unknown, report.Task.State, "%v", report.Task)
		_, err = r.peer.open(r.limit(), "object")
		require.ErrorContains(t, err, "there is no object", "a failed put leaves nothing")
		r.nothingInFlight()
	})
}

func TestBadRequests(t *testing.T) {
	r := newRig(t, options{server: func(c *ServerConfig) { c.MaxBytes = 1 << 20 }})
	ctx := r.limit()
	sent := r.buffer(1000)
	_, err := r.peer.Put(ctx, "object", sent)
	require.NoError(t, err)

	_, err = r.peer.create(ctx, "large", 100_000)
	require.NoError(t, err)
	ask := func(op string, body any) error { return r.peer.control.call(ctx, op, body, nil) }
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"an object that exists", ask(opCreate, objectRequest{"object", 1}), `object "object" exists`},
		{"an object without a name", ask(opCreate, objectRequest{"", 1}), "must be 1 to 255"},
		{"an object with a long name", ask(opCreate, objectRequest{strings.Repeat("x", 256), 1}), "must be 1 to 255"},
		{"an object of no bytes", ask(opCreate, objectRequest{"empty", 0}), "of 0 bytes: must be at least 1"},
		{"an object above the limit", ask(opCreate, objectRequest{"big", 1 << 40}), "there is room for 947576"},
		{"an object that is not there", ask(opOpen, objectRequest{Object: "nowhere"}), `there is no object "nowhere"`},
		{"sealing twice", ask(opSeal, objectRequest{Object: "object"}), "is sealed already"},
		{"checksums outside of the object", ask(opChecksums, checksumsRequest{"object", 999, 2, 10}), "object \"object\" has 1000 bytes"},
		{"checksums of an overflowing range", ask(opChecksums, checksumsRequest{"object", 1, 1<<63 - 1, 10}), "object \"object\" has 1000 bytes"},
		{"too many checksums", ask(opChecksums, checksumsRequest{"large", 0, 100_000, 1}), "one request may ask for 65536 sums"},
		{"a NIC that is not there", ask(opConnect, connectRequest{Remote: "mlx5_9"}), `has no NIC "mlx5_9"; it has [simb0 simb1]`},
		{"an endpoint without QPs", ask(opConnect, connectRequest{Remote: "simb0"}), "0 QPs asked for"},
		{"an unknown operation", ask("dance", nothing{}), `operation "dance" is unknown`},
		{"a body of the wrong type", ask(opOpen, "text"), "body of open"},
	} {
		assert.ErrorContains(t, tc.err, tc.want, tc.name)
	}
	_, err = r.peer.Start(Write, sent, Object{Name: "object", Bytes: 999})
	assert.ErrorContains(t, err, "must have the same length")
	_, err = r.peer.Start(Write, sent, Object{Name: "object", Bytes: 1000})
	assert.ErrorContains(t, err, "has no key for NIC")
	_, err = r.engine.NewBuffer(0)
	assert.ErrorContains(t, err, "buffer of 0 bytes")
}

// What is not JSON ends the session and nothing else.
func TestGarbageOnTheControlConnection(t *testing.T) {
	r := newRig(t, options{})
	near, far := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.server.Serve(far)
	}()
	_, err := fmt.Fprintln(near, "GET / HTTP/1.1")
	require.NoError(t, err)
	<-ended
	_, err = r.peer.Put(r.limit(), "object", r.buffer(1000))
	require.NoError(t, err, "another session must go on")
}

func TestPeerThatDoesNotSpeakTheProtocol(t *testing.T) {
	for _, tc := range []struct {
		name, line, want string
	}{
		{"no JSON", "hello?", "the peer sent no JSON"},
		{"no NICs", `{"id":1,"body":{"name":"b"}}`, "has no NICs"},
		{"names for NICs", `{"id":1,"body":{"name":"b","nics":["simb0"]}}`, "answer to hello"},
		// Two rails on one pair of NICs would take each other's endpoints away for ever.
		{"a NIC twice", `{"id":1,"body":{"name":"b","nics":[{"name":"x","port":1},{"name":"x","port":1}]}}`, `remote NIC "x", port 1, is listed after another`},
		{"an error", `{"id":1,"error":"go away"}`, "the peer refused hello: go away"},
		{"silence", "", "no answer from the peer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := startRig(t, options{})
			near, far := net.Pipe()
			defer far.Close()
			go func() {
				bufio.NewReader(far).ReadString('\n')
				if tc.line != "" {
					fmt.Fprintln(far, tc.line)
				}
			}()
			ctx := r.limit()
			if tc.line == "" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			_, err := r.engine.Connect(ctx, near)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestUnsealedObjectsAreTheirSessionsAlone(t *testing.T) {
	r := newRig(t, options{})
	_, err := r.peer.create(r.limit(), "half", 1000)
	require.NoError(t, err)
	near, far := net.Pipe()
	go r.server.Serve(far)
	other := newControl(near)
	defer other.Close()
	err = other.call(r.limit(), opOpen, objectRequest{Object: "half"}, nil)
	require.ErrorContains(t, err, `object "half" is still being written`)
	_, err = r.peer.open(r.limit(), "half")
	require.NoError(t, err, "the writer may ask for its keys again")
}

// What one session is writing no other can delete, seal or sum up, and the end of a
// session takes away nothing of another's.
func TestObjectsBelongToTheirSession(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		one, two := r.dial(), r.dial()
		ask := func(c *control, op string, body any) error { return c.call(t.Context(), op, body, nil) }
		name := objectRequest{Object: "x"}
		require.NoError(t, ask(one, opCreate, objectRequest{"x", 10}))
		require.NoError(t, ask(two, opCreate, objectRequest{"y", 20}))
		for _, op := range []string{opOpen, opSeal, opDelete} {
			assert.ErrorContains(t, ask(two, op, name), `object "x" is still being written, by another session`, op)
		}
		assert.ErrorContains(t, ask(two, opChecksums, checksumsRequest{"x", 0, 10, 10}), "by another session")
		require.NoError(t, ask(one, opDelete, name))
		require.NoError(t, ask(two, opCreate, objectRequest{"x", 20}), "the name is free again")
		require.NoError(t, ask(two, opSeal, name))
		one.Close()
		synctest.Wait()
		require.NoError(t, ask(two, opOpen, name), "the sealed object of session two must not go with session one")
		two.Close()
		synctest.Wait()
		require.Len(t, r.server.store.objects, 1, "what was not sealed goes with its session")
	})
}

// dial returns the asking side of a new session with the server.
func (r *rig) dial() *control {
	near, far := net.Pipe()
	go r.server.Serve(far)
	c := newControl(near)
	r.t.Cleanup(c.Close)
	return c
}

func TestConnectAgain(t *testing.T) {
	r := newRig(t, options{})
	near, far := net.Pipe()
	go r.server.Serve(far)
	_, err := r.engine.Connect(r.limit(), near)
	require.ErrorContains(t, err, `there is a connection already`)

	sent := r.buffer(1 << 20)
	_, err = r.peer.Put(r.limit(), "first", sent)
	require.NoError(t, err)
	before := r.peer
	before.Close()
	assert.Empty(t, r.ctl.Snapshot().Routes, "a peer that was closed is forgotten")
	r.peer = r.connect()
	assert.Zero(t, before.InFlight())
	before.Close()
	_, err = r.peer.Put(r.limit(), "second", sent)
	require.NoError(t, err, "the new connection has routes of its own, which closing the old one again leaves alone")
}

// A session that ends in the middle of a put leaves nothing of it.
func TestUnsealedObjectsGoWithTheirSession(t *testing.T) {
	r := newRig(t, options{})
	_, err := r.peer.create(r.limit(), "half", 1000)
	require.NoError(t, err)
	r.peer.Close()
	r.until(func() bool {
		r.server.store.mu.Lock()
		defer r.server.store.mu.Unlock()
		return len(r.server.store.objects) == 0
	}, "the object must be gone")
}

func TestServeOverTCP(t *testing.T) {
	r := startRig(t, options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listening := make(chan error, 1)
	go func() { listening <- r.server.Listen(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	p, err := r.engine.Connect(r.limit(), conn)
	require.NoError(t, err)
	_, err = p.Put(r.limit(), "object", r.buffer(1<<20))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, <-listening)
}
