package recorder_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/taskstate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every call that a controller takes is in the recording, with its answer.
func TestCallsOfASlice(t *testing.T) {
	r := newRig(t, recorder.New(), nil)
	route := r.route("n1")
	gen := r.renew(route, 0, 1, 2)
	begin := len(r.dump())
	var a, b slice
	r.post(&a, route, gen, 64*kib, 1)
	assert.Equal(t, cc.Ended|cc.Released, r.settle(&a, success))
	assert.Equal(t, cc.Edges(0), r.settle(&a, success), "a late one")
	assert.Error(t, a.permit.Posting(1, r.time()), "not held")
	r.advance(time.Second)
	r.post(&a, route, gen, 4*kib, 2)
	r.settle(&a, classify.Of(classify.SignalCancel))
	r.settle(&a, classify.Of(classify.SignalDeadlineStalled))
	assert.ErrorIs(t, route.TryAcquire(&a.permit, gen, 4*kib, &a.task).Err, cc.ErrHeld)
	r.settle(&a, classify.Of(classify.SignalTeardown))
	assert.Error(t, route.TryAcquire(&b.permit, gen, 0, nil).Err)
	assert.True(t, route.TryAcquire(&b.permit, gen, 4*kib, nil).Admitted())
	assert.True(t, b.permit.Unposted())
	assert.False(t, b.permit.Unposted())
	r.post(&b, route, gen, 4*kib, 1)
	assert.True(t, b.permit.Unposted(), "the tail of a partial post")
	r.post(&b, route, gen, 4*kib, 1)
	r.settle(&b, classify.RejectedPost(12))
	assert.True(t, route.TryAcquire(&b.permit, gen, 4*kib, &b.task).Admitted())
	assert.ErrorIs(t, b.permit.Posting(9, r.time()), cc.ErrUnknownQP)
	assert.Equal(t, []string{
		"acquire p1 r1 64KiB gen=1 task=t1 -> admit use=#",
		"@3600s post p1 qp=1",
		"@3600s complete p1 SUCCESS use=# -> ended+released",
		"@3600s complete p1 SUCCESS use=# -> none",
		"@3600s post p1 qp=1 -> error=not_held",
		"acquire p1 r1 4KiB gen=1 task=t1 -> admit use=#",
		"@3601s post p1 qp=2",
		"@3601s cancel p1 use=# -> ended",
		"@3601s deadline p1 stalled use=# -> none",
		"acquire p1 r1 4KiB gen=1 task=t1 -> refused error=held",
		"@3601s teardown p1 use=# -> released",
		"acquire p2 r1 0 gen=1 task=none -> refused error=invalid",
		"acquire p2 r1 4KiB gen=1 task=none -> admit use=#",
		"unposted p2 -> yes",
		"unposted p2 -> no",
		"acquire p2 r1 4KiB gen=1 task=t2 -> admit use=#",
		"@3601s post p2 qp=1",
		"unposted p2 -> yes",
		"acquire p2 r1 4KiB gen=1 task=t2 -> admit use=#",
		"@3601s post p2 qp=1",
		"@3601s reject p2 ENOMEM use=# -> ended+released",
		"acquire p2 r1 4KiB gen=1 task=t2 -> admit use=#",
		"@3601s post p2 qp=9 -> error=unknown_qp",
	}, r.since(begin))
}

func TestCallsOfAList(t *testing.T) {
	r := newRig(t, recorder.New(), nil)
	route := r.route("n1")
	gen := r.renew(route, 0, 1)
	begin := len(r.dump())
	var l cc.List
	sizes := []int64{4 * kib, 4 * kib, 8 * kib, 4 * kib}
	d := route.TryAcquireList(&l, gen, sizes, nil)
	require.True(t, d.Admitted(), "%s", d)
	assert.ErrorIs(t, route.TryAcquireList(&l, gen, sizes, nil).Err, cc.ErrHeld)
	l.Unposted(3)
	require.NoError(t, l.Posting(1, r.time()))
	assert.Equal(t, uint32(0b100), l.Unposted(2))
	l.Settle(d.Use, 0b1, success, r.time())
	assert.Equal(t, uint32(0b10), l.Settle(d.Use, 0b11, retryExc, r.time()).Ended)
	l.Settle(d.Use, 0b11, success, r.time())
	route.TryAcquireList(&l, gen, nil, nil)
	route.TryAcquireList(&l, gen, []int64{1 << 40, 1}, nil)
	require.True(t, route.TryAcquireList(&l, gen, []int64{1}, nil).Admitted())
	assert.ErrorIs(t, l.Posting(9, r.time()), cc.ErrUnknownQP)
	assert.Equal(t, []string{
		"acquire_list p1 r1 4KiB,4KiB,8KiB,4KiB gen=1 task=none -> admit use=#",
		"acquire_list p1 r1 4KiB,4KiB,8KiB,4KiB gen=1 task=none -> refused error=held",
		"unposted p1 from=3 -> released=3",
		"@3600s post p1 qp=1",
		"unposted p1 from=2 -> released=2",
		"@3600s complete p1 SUCCESS use=# slices=0 -> ended=0 released=0",
		"jitter 1.125",
		"@3600s told r1 HEALTHY SUSPECT ROUTE_TIMEOUT source=completion raw=12 vendor=0x81 gen=1",
		"@3600s complete p1 RETRY_EXC_ERR vendor=0x81 use=# slices=0,1 -> ended=1 released=1",
		"@3600s complete p1 SUCCESS use=# slices=0,1 -> ended=none released=none",
		"mark \"left out: scenario: acquire_list lacks its bytes\"",
		"@3600s clock",
		"acquire_list p1 r1 1024GiB,1 gen=1 task=none -> defer ROUTE_SUSPECT domain=route hint=divert",
		"@3600s clock",
		"@3600s clock",
		"acquire_list p1 r1 1 gen=1 task=none -> admit use=#",
		"@3600s post p1 qp=9 -> error=unknown_qp",
	}, r.since(begin))
}

func TestCallsOfRoutesAndPollers(t *testing.T) {
	callsOfRoutesAndPollers(t)
}

// One at a time they are the same, also those after which nothing is left to call.
func TestSerialCallsOfRoutesAndPollers(t *testing.T) {
	callsOfRoutesAndPollers(t, recorder.Serial())
}

func callsOfRoutesAndPollers(t *testing.T, options ...recorder.Option) {
	r := newRig(t, recorder.New(options...), nil)
	poller, err := r.ctl.NewPoller("D1", 1, 2)
	require.NoError(t, err)
	_, err = r.ctl.NewPoller("D1", 2)
	require.Error(t, err)
	route, other := r.route("n1"), r.route("n2")
	r.route("n1")
	gen, err := route.Renew(0, []cc.QP{{ID: 1, CQ: 1, SRQ: 7}, {ID: 2, CQ: 2, Incarnation: 9}})
	require.NoError(t, err)
	_, err = route.Renew(0, []cc.QP{{ID: 3}})
	require.ErrorIs(t, err, cc.ErrStaleGeneration)
	var a slice
	r.post(&a, route, gen, 4*kib, 1)
	poller.Beat(r.time())
	r.advance(10 * time.Millisecond)
	poller.Beat(r.time())
	r.ctl.Tick(r.time())
	_, reached, err := r.ctl.Event(classify.Event{Type: classify.EventPortErr, Element: classify.Element{Device: "D1", Port: 1}}, r.time())
	require.NoError(t, err)
	require.Equal(t, 2, reached)
	_, _, err = r.ctl.Event(classify.Event{Type: classify.EventQPFatal}, r.time())
	require.Error(t, err)
	route.Unreachable(gen, r.time())
	r.advance(2 * time.Second)
	require.Len(t, r.ctl.Due(r.time()), 2)
	var p cc.Permit
	assert.Equal(t, cc.NeedRenew, route.TryProbe(&p, gen, 64).Hint)
	gen = r.renew(route, gen, 4)
	require.True(t, route.TryProbe(&p, gen, 64).Admitted())
	assert.Error(t, other.Handoff(&p, 5, nil).Err, "not there yet")
	d := other.Handoff(&p, 0, nil)
	assert.False(t, d.Admitted())
	poller.Close()
	other.Close()
	assert.Equal(t, 1, r.ctl.Forget("P", ""))
	r.ctl.Close()
	_, err = r.ctl.Route(rail.Pair{Peer: "P", Local: "D1", Port: 1, Remote: "n3"})
	require.ErrorIs(t, err, cc.ErrClosed)
	r.ctl.Tick(r.time())
	r.ctl.Close()
	assert.Equal(t, []string{
		"@3600s clock", // of New
		"@3600s clock",
		"poller poller1 D1 cq=1,2",
		"poller poller0 D1 cq=2 -> error=invalid",
		"@3600s clock",
		"route r1 D1 P n1 port=1",
		"@3600s clock",
		"route r2 D1 P n2 port=1",
		"renew r1 qps=1,2 cq=1,2 srq=7,0 incarnation=0,9 old=0 -> 1",
		"renew r1 qps=3 cq=0 old=0 -> 1 error=stale_generation",
		"acquire p1 r1 4KiB gen=1 task=t1 -> admit use=#",
		"@3600s post p1 qp=1",
		"@3600.01s beat poller1",
		"@3600.01s tick",
		"jitter 1.125,1.125,1.125,1.125",
		"@3600.01s told r1 HEALTHY QUARANTINED FATAL source=event raw=10 gen=1 last_route=yes",
		"@3600.01s told r2 HEALTHY QUARANTINED FATAL source=event raw=10 gen=0 last_route=yes",
		"@3600.01s event PORT_ERR D1 port=1 -> reached=2",
		"@3600.01s event QP_FATAL -> reached=0 error=no_element",
		"@3600.01s unreachable r1 old=1",
		"@3602.01s due -> r1,r2",
		"@3602.01s clock",
		"@3602.01s clock",
		"probe p2 r1 64 gen=1 -> avoid PATH_QUARANTINED hint=renew",
		"renew r1 qps=4 cq=1 old=1 -> 2",
		"@3602.01s clock",
		"@3602.01s clock",
		"@3602.01s told r1 QUARANTINED PROBING PROBING gen=2",
		"probe p2 r1 64 gen=2 -> admit use=#",
		"handoff p2 r2 gen=5 task=none -> refused error=invalid",
		"@3602.01s clock",
		"@3602.01s clock",
		"@3602.01s told r1 PROBING QUARANTINED gen=2 last_route=yes",
		"handoff p2 r2 gen=0 task=none -> avoid PATH_QUARANTINED retry_after=31.75s",
		"close_poller poller1",
		"@3602.01s clock",
		"close_route r2",
		"@3602.01s clock",
		"forget P -> routes=1",
		"close",
		"route r0 D1 P n3 port=1 -> error=closed",
		"close",
	}, r.dump())
}

func TestWaitIsRecordedWhenItReturns(t *testing.T) {
	for _, serial := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			options := []recorder.Option{recorder.Slots(256)}
			if serial {
				options = append(options, recorder.Serial())
			}
			r := newRig(t, recorder.New(options...), nil)
			route := r.route("n1")
			gen := r.renew(route, 0, 1)
			var a, b slice
			r.post(&a, route, gen, 256*kib, 1)
			begin := len(r.dump())
			done := make(chan cc.Decision)
			go func() { done <- route.Acquire(context.Background(), &b.permit, gen, 4*kib, &b.task) }()
			synctest.Wait()
			r.settle(&a, success)
			d := <-done
			require.True(t, d.Admitted())
			require.NoError(t, b.permit.Posting(1, r.time()))
			b.use = d.Use
			r.settle(&b, success)
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(errors.New("enough"))
			route.Acquire(ctx, &b.permit, gen, 4*kib, &b.task)
			assert.Error(t, route.Acquire(context.Background(), &b.permit, gen, 0, &b.task).Err)
			late := &endsAfterOneLook{Context: context.Background()}
			assert.True(t, route.Acquire(late, &b.permit, gen, 4*kib, &b.task).Admitted())
			late = &endsAfterOneLook{Context: context.Background()}
			assert.ErrorIs(t, route.Acquire(late, &b.permit, gen, 4*kib, &b.task).Err, cc.ErrHeld)
			assert.Equal(t, []string{
				`mark "p2 waits for 4096 bytes on r1"`,
				"@3600s complete p1 SUCCESS use=# -> ended+released",
				"@3600s clock", // by the waiter that woke
				"wait p2 r1 4KiB gen=1 task=t2 -> admit use=#",
				"@3600s post p2 qp=1",
				"@3600s complete p2 SUCCESS use=# -> ended+released",
				"wait p2 r1 4KiB gen=1 task=t2 -> refused error=ended",
				"wait p2 r1 0 gen=1 task=t2 -> refused error=invalid",
				"wait p2 r1 4KiB gen=1 task=t2 -> admit use=#",
				"wait p2 r1 4KiB gen=1 task=t2 -> refused error=held",
			}, r.since(begin), "serial: %t", serial)
		})
	}
}

// endsAfterOneLook is a context that ends while a call that has looked at it goes on.
type endsAfterOneLook struct {
	context.Context
	looks int
}

func (c *endsAfterOneLook) Err() error {
	if c.looks++; c.looks > 1 {
		return context.Canceled
	}
	return nil
}

// A task that begins anew where another one was has a name of its own.
func TestTaskThatBeginsAnew(t *testing.T) {
	r := newRig(t, recorder.New(), nil)
	route := r.route("n1")
	gen := r.renew(route, 0, 1)
	begin := len(r.dump())
	var s slice
	for range 2 {
		r.post(&s, route, gen, 4*kib, 1)
		r.settle(&s, success)
		s.task = taskstate.Task{}
	}
	var names []string
	for _, line := range r.since(begin) {
		if _, name, found := strings.Cut(line, "task="); found {
			names = append(names, name)
		}
	}
	assert.Equal(t, []string{"t1 -> admit use=#", "t2 -> admit use=#"}, names)
}
