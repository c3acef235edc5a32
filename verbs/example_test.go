package verbs_test

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/verbs"
	"github.com/rdmagate/rdmagate/verbs/verbstest"
)

// sendAll posts a list of any length and returns when all of it has completed.
// It runs on a real QP and CQ as well as on scripted ones.
func sendAll(qp verbs.Poster, cq verbs.Poller, list []verbs.SendWR) error {
	wcs := make([]verbs.WC, 32)
	for done, total := 0, len(list); done < total; {
		n, err := qp.PostSend(list)
		if err != nil && !errors.Is(err, syscall.ENOMEM) { // ENOMEM: the queue is full, go on polling
			return err
		}
		list = list[n:]
		if n, err = cq.Poll(wcs); err != nil {
			return err
		}
		for _, wc := range wcs[:n] {
			if wc.Status != classify.StatusSuccess {
				return fmt.Errorf("request %d: %v, vendor error %#x", wc.WRID, wc.Status, wc.VendorErr)
			}
		}
		done += n
	}
	return nil
}

// Posts go out in lists, completions come in batches. Here a scripted QP stands
// for a real one: it answers requests at once, and breaks on one of them.
func Example() {
	cq := verbstest.NewCQ(64)
	qp := verbstest.NewQP(cq, nil, verbs.QPCap{MaxSendWR: 16})
	defer cq.Close()
	defer qp.Close()
	qp.Answer(func(wr verbs.SendWR) verbstest.Reply {
		if wr.WRID == 77 {
			return verbstest.Reply{Status: classify.StatusRemAccessErr, VendorErr: 0x88}
		}
		return verbstest.Reply{}
	})

	list := make([]verbs.SendWR, 50) // more than the queue holds
	for i := range list {
		list[i] = verbs.SendWR{
			WRID:       uint64(i),
			Op:         verbs.OpWrite,
			Flags:      verbs.SendSignaled,
			SGE:        verbs.SGE{Addr: 0x1000, Length: 64 << 10, LKey: 1},
			RemoteAddr: 0x2000,
			RKey:       2,
		}
	}
	fmt.Println(sendAll(qp, cq, list), qp.Accepted())

	list[0].WRID = 77
	err := sendAll(qp, cq, list[:1])
	fmt.Println(err != nil, qp.State())
	// Output:
	// <nil> 50
	// true ERR
}

// Errors name the call, the value at fault and the remedy, and wrap the errno. A
// program that can do without RDMA asks for errors.ErrUnsupported.
func ExampleOpen() {
	ctx, err := verbs.Open("nosuch0")
	var e *verbs.Error
	switch {
	case err == nil:
		defer ctx.Close()
	case errors.Is(err, errors.ErrUnsupported): // no RDMA here: not Linux, no libibverbs, no kernel module
		fmt.Println("cannot use the device")
	case errors.As(err, &e) && e.Errno == syscall.ENODEV: // RDMA, but no such device; the error lists those there are
		fmt.Println("cannot use the device")
	}
	// Output: cannot use the device
}

func ExampleWrapContext() {
	_, err := verbs.WrapContext(nil)
	fmt.Println(err)
	// Output: verbs: WrapContext: the struct ibv_context pointer is nil: invalid argument; pass what ibv_open_device returned, after checking it
}

// handEvents is the goroutine that reads a device's asynchronous events. It ends when the
// source is closed, or when the device is removed.
func handEvents(source verbs.EventSource, ctl *cc.Controller) {
	for {
		e, err := source.Next()
		if err != nil {
			return
		}
		v, reached, err := ctl.Event(e.Event(), ctl.Now())
		fmt.Println(v.Scope(), "-", v.Action(), "- QPs:", reached, err)
	}
}

// Events of a device go to the controller, which finds by the QP's ID what they reach.
// Here a scripted source stands for [Context.AsyncEvents].
func ExampleAsyncEvent_Event() {
	cq := verbstest.NewCQ(64)
	qp := verbstest.NewQP(cq, nil, verbs.QPCap{})
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	ctl, err := cc.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ctl.Close()
	route, _ := ctl.Route(rail.Pair{Peer: "host-b", Local: "mlx5_0", Port: 1, Remote: "mlx5_3"})
	if _, err := route.Renew(0, []cc.QP{{ID: qp.ID(), CQ: cq.ID()}}); err != nil {
		fmt.Println(err)
		return
	}

	events := verbstest.NewEvents("mlx5_0")
	events.PushQP(classify.EventQPFatal, qp)
	events.PushPort(classify.EventPortErr, 1)
	events.End(syscall.EIO) // the device is removed
	handEvents(events, ctl)
	fmt.Println(route.State())
	// Output:
	// QP - retire the QP - QPs: 1 <nil>
	// port - isolate the port - QPs: 1 <nil>
	// QUARANTINED
}
