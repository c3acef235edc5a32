package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// demonstration runs both sides in this process: an engine on host a puts objects
// to a server on host b and gets them back, while one NIC pair is blocked and
// unblocked.
type demonstration struct {
	stage   *stage
	ctl     *cc.Controller
	engine  *transfer.Engine
	server  *transfer.Server
	peer    *transfer.Peer
	sampler *transfer.Sampler
	table   *table
	fault   *faultPlan
	history history

	total   int64 // bytes to put; as many are read back
	object  int64 // bytes of an object
	began   time.Duration
	next    atomic.Int64 // number of the next object
	results results
}

func demo(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, o := newFlags("demo", stderr)
	var total size
	object := size(16 << 20)
	f.Var(&total, "bytes", "`bytes` to put, and to get back; 0 means what suits the fabric")
	f.Var(&object, "object", "`bytes` of one object")
	streams := f.Int("streams", 2, "objects under way at once")
	fault := f.Bool("fault", true, "block a NIC pair on the way, where that is possible")
	o.record.flags(f)
	o.sim.flags(f)
	live := f.String("live", "auto", "redraw the table in place: auto, yes or no")
	if err := o.parse(f, args); err != nil {
		return err
	}
	if err := checkAmounts(total, object, *streams); err != nil {
		return err
	}
	if *live != "auto" && *live != "yes" && *live != "no" {
		return fmt.Errorf("%w: -live %q is unknown; use auto, yes or no", errUsage, *live)
	}
	redraw := *live == "yes" || *live == "auto" && isTerminal(stdout)
	s, guest, err := setStage(ctx, o, stderr)
	if guest {
		if redraw {
			args = append(args, "-live", "yes")
		}
		started, err := runInGuest(ctx, append([]string{"demo"}, args...), o.record, stdout, stderr)
		if err == nil || started || ctx.Err() != nil {
			return err
		}
		fmt.Fprintln(stderr, "engine: the guest did not start:", err)
		if s, err = simStage("the guest did not start", o.sim); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "Fabric:", s.title)
	o.suggest(s)
	fmt.Fprintf(stdout, "Admission: %s, %v\n", o.mode, o.health)
	if !*fault {
		s.faults = nil
	}
	if total == 0 {
		total = size(s.bytes)
	}
	d := &demonstration{stage: s, table: &table{out: stdout, live: redraw}, total: int64(total), object: int64(object)}
	return errors.Join(d.run(ctx, o, *streams, stderr), s.close())
}

// What a demonstration moves, and what its streams have in memory at once: an object
// there is three times, where it comes from, at the server and read back.
const (
	maxTotal    = 1 << 40
	maxUnderWay = 1 << 30
	maxStreams  = 1024
)

func checkAmounts(total, object size, streams int) error {
	switch {
	case streams < 1 || streams > maxStreams:
		return fmt.Errorf("%w: -streams %d: must be 1 to %d", errUsage, streams, maxStreams)
	case object < 1:
		return fmt.Errorf("%w: -object %d: must be at least 1; there is nothing to move otherwise", errUsage, object)
	case total > maxTotal:
		return fmt.Errorf("%w: -bytes %d: must be at most %d (%s)", errUsage, total, int64(maxTotal), bytesText(maxTotal))
	case object > maxUnderWay/size(streams):
		return fmt.Errorf("%w: -object %d -streams %d: objects under way may have %d bytes (%s) together; use smaller ones or fewer streams",
			errUsage, object, streams, int64(maxUnderWay), bytesText(maxUnderWay))
	}
	return nil
}

// run is the demonstration from the first endpoint to the summary.
func (d *demonstration) run(ctx context.Context, o *options, streams int, stderr io.Writer) (err error) {
	record, err := o.record.begin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, record.end(d.table.out)) }()
	if d.ctl, err = o.controller(cc.WithTransitions(d.history.add), record.option()); err != nil {
		return err
	}
	defer d.ctl.Close()
	log := o.logger(stderr)
	if d.server, err = transfer.NewServer(d.stage.b, o.serverConfig("host-b", log)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.server.Close()) }()
	opts := append(o.rails.engineOptions(), transfer.WithName("host-a"), transfer.WithLogger(log))
	d.engine, err = transfer.New(d.stage.a, d.ctl, o.engineConfig(), opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.engine.Close()) }()
	near, far := net.Pipe()
	go d.server.Serve(far)
	if d.peer, err = d.engine.Connect(ctx, near); err != nil {
		return err
	}
	d.sampler, d.fault = d.peer.NewSampler(), newFaultPlan(d.stage, d.peer)
	d.began = d.ctl.Now()
	failure := d.play(ctx, streams)
	failure = errors.Join(failure, d.fault.end())
	rails := d.sampler.Sample()
	took := d.ctl.Now() - d.began
	failure = errors.Join(failure, d.engine.Close())
	return errors.Join(failure, d.summary(rails, took))
}

// play runs the streams and shows the table until they are done.
func (d *demonstration) play(ctx context.Context, streams int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for range streams {
		running.Go(func() {
			if err := d.stream(ctx); err != nil {
				cancel(err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	every := time.Second
	if d.table.live {
		every = 250 * time.Millisecond
	}
	show := time.NewTicker(every)
	defer show.Stop()
	step := time.NewTicker(20 * time.Millisecond)
	defer step.Stop()
	for {
		select {
		case <-step.C:
			if err := d.fault.step(d); err != nil {
				cancel(err)
			}
		case <-show.C:
			rails := d.sampler.Sample()
			d.table.show(d.headline(rails), rails)
		case <-done:
			return context.Cause(ctx)
		}
	}
}

// moved adds up what all rails have delivered.
func moved(rails []transfer.RailSample) int64 {
	var sum int64
	for _, r := range rails {
		sum += r.Delivered
	}
	return sum
}

func (d *demonstration) headline(rails []transfer.RailSample) string {
	return fmt.Sprintf("%5.1f s  %s of %s moved, %s checked  %s", (d.ctl.Now() - d.began).Seconds(),
		bytesText(moved(rails)), bytesText(2*d.total), bytesText(d.results.checked.Load()), d.fault.status())
}

// stream puts objects and gets them back until all are done.
func (d *demonstration) stream(ctx context.Context) error {
	for {
		number := d.next.Add(1) - 1
		left := d.total - number*d.object
		if left <= 0 {
			return nil
		}
		if err := d.roundTrip(ctx, fmt.Sprintf("object-%d", number), min(left, d.object), uint64(number)); err != nil {
			return err
		}
	}
}

// roundTrip puts one object of random bytes, gets it back and compares.
func (d *demonstration) roundTrip(ctx context.Context, name string, n int64, seed uint64) (err error) {
	sent, err := d.engine.NewBuffer(int(n))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sent.Close()) }()
	fill(sent.Bytes(), seed)
	report, err := d.peer.Put(ctx, name, sent)
	d.finished(report)
	if err != nil {
		return err
	}
	got, report, err := d.peer.Get(ctx, name)
	d.finished(report)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, got.Close()) }()
	if !bytes.Equal(sent.Bytes(), got.Bytes()) {
		return fmt.Errorf("object %q came back with other bytes than were put", name)
	}
	return d.peer.Delete(ctx, name)
}

// finished counts a transfer, and shows the state of its task if it failed or was
// slow.
func (d *demonstration) finished(r transfer.Report) {
	if why := d.results.add(r); why != "" {
		d.table.note(taskText(r, why))
	}
}

// fill writes pseudo-random bytes.
func fill(mem []byte, seed uint64) {
	source := rand.NewPCG(seed, 0x72646d61)
	var word [8]byte
	for len(mem) > 0 {
		binary.LittleEndian.PutUint64(word[:], source.Uint64())
		mem = mem[copy(mem, word[:]):]
	}
}
