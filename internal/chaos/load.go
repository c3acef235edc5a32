package chaos

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/rdmagate/rdmagate/examples/engine/transfer"
	"github.com/rdmagate/rdmagate/taskstate"
)

// load is streams of transfers: an object is put, got back, compared and deleted.
type load struct {
	site *Site
	plan Schedule
	stop chan struct{}
	over sync.WaitGroup

	mu      sync.Mutex
	cancels map[int]context.CancelCauseFunc // of what is under way, by stream
	done    Done
}

// Done is what became of the transfers of a round.
type Done struct {
	Puts, Gets int // that succeeded
	Bytes      int64
	Retries    int64 // slices that were posted again, also of transfers that failed
	// Failed counts the others by reason, and Tasks by the state of their task.
	Failed, Tasks map[string]int
	// Lies is how many READs the fabric completed without their data. The checksums found
	// out.
	Lies int
}

func (s *Site) startLoad(ctx context.Context, plan Schedule) *load {
	l := &load{
		site: s, plan: plan, stop: make(chan struct{}), cancels: map[int]context.CancelCauseFunc{},
		done: Done{Failed: map[string]int{}, Tasks: map[string]int{}},
	}
	for i := range plan.Setup.Streams {
		l.over.Go(func() { l.stream(ctx, i) })
	}
	return l
}

// end lets the transfers under way end, and reports those that do not.
func (l *load) end(limit time.Duration) Done {
	close(l.stop)
	over := make(chan struct{})
	go func() {
		l.over.Wait()
		close(over)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-over:
	case <-timer.C:
		l.mu.Lock()
		l.site.court.broken(Reason, "transfers of %d streams have not ended after %v", len(l.cancels), limit)
		for _, cancel := range l.cancels {
			cancel(errors.New("it took too long"))
		}
		l.mu.Unlock()
		<-over
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done
}

// errCancelled is the cause of a cancel that was planned.
var errCancelled = errors.New("cancelled on purpose")

// cancel cancels so many of the transfers that are under way.
func (l *load) cancel(n int, rng *rand.Rand) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, i := range rng.Perm(l.plan.Setup.Streams) {
		if cancel := l.cancels[i]; cancel != nil && n > 0 {
			cancel(errCancelled)
			n--
		}
	}
}

// stream makes one transfer after another.
func (l *load) stream(ctx context.Context, id int) {
	rng := rand.New(rand.NewPCG(l.plan.Seed, 0x10ad+uint64(id)))
	g := generator{Rand: rng}
	for i := 0; ; i++ {
		pause := time.NewTimer(g.exponential(time.Duration(l.plan.Setup.Think)))
		select {
		case <-pause.C:
		case <-l.stop:
			return
		case <-ctx.Done():
			return
		}
		p := l.site.peers[rng.IntN(len(l.site.peers))]
		size := int(g.between(leastBytes, float64(l.plan.Setup.MaxBytes)))
		conn, back := p.connected()
		if conn == nil {
			select {
			case <-back:
				continue
			case <-l.stop:
				return
			}
		}
		l.object(ctx, id, conn, fmt.Sprintf("object-%d-%d", id, i), size)
	}
}

// object puts an object, gets it back, and deletes it.
func (l *load) object(ctx context.Context, stream int, conn *transfer.Peer, name string, size int) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l.mu.Lock()
	l.cancels[stream] = cancel
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.cancels, stream)
		l.mu.Unlock()
	}()
	sent, err := l.site.engine.NewBuffer(size)
	if err != nil {
		l.failure(transfer.Report{Err: err})
		return
	}
	defer sent.Close()
	fill(sent.Bytes(), l.plan.Seed, uint64(stream))
	put, err := conn.Put(ctx, name, sent)
	l.ended(put)
	if err != nil {
		return
	}
	got, get, err := conn.Get(ctx, name)
	if err == nil {
		if want := make([]byte, size); !bytes.Equal(fill(want, l.plan.Seed, uint64(stream)), got.Bytes()) {
			l.site.court.broken(Payload, "object %q of %d bytes came back different, and its transfers say that all is well", name, size)
		}
		defer got.Close()
	}
	l.ended(get)
	if err := conn.Delete(context.WithoutCancel(ctx), name); err != nil && !errors.Is(err, transfer.ErrPeerGone) && !errors.Is(err, transfer.ErrClosed) {
		l.site.court.broken(Reason, "deleting object %q: %v", name, err)
	}
}

// fill writes bytes that look random, and returns them.
func fill(mem []byte, seed, stream uint64) []byte {
	source := rand.NewPCG(seed, stream<<32|uint64(len(mem)))
	left := mem
	for ; len(left) >= 8; left = left[8:] {
		binary.LittleEndian.PutUint64(left, source.Uint64())
	}
	for i := range left {
		left[i] = byte(source.Uint64())
	}
	return mem
}

// ended counts a transfer.
func (l *load) ended(r transfer.Report) {
	if r.Err != nil {
		l.failure(r)
		return
	}
	if r.Task.State != taskstate.Normal {
		l.site.court.broken(Reason, "%v of object %q was a success, and its task is %v", r.Op, r.Object, r.Task)
	}
	if r.Checked != r.Bytes || r.Moved != r.Bytes {
		l.site.court.broken(Payload, "%v of object %q of %d bytes was a success with %d moved and %d checked", r.Op, r.Object, r.Bytes, r.Moved, r.Checked)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done.Retries += r.Retries
	l.done.Bytes += r.Bytes
	if r.Op == transfer.Read {
		l.done.Gets++
	} else {
		l.done.Puts++
	}
}

// failure counts a transfer that failed, by reason.
func (l *load) failure(r transfer.Report) {
	reason, path := l.reason(r)
	switch {
	case reason == "":
		l.site.court.broken(Reason, "%v of object %q failed for no reason that is known: %v", r.Op, r.Object, r.Err)
		reason = "unknown"
	case path && r.Task.State == taskstate.Normal:
		l.site.court.broken(Reason, "%v of object %q failed, and its task is NORMAL: %v", r.Op, r.Object, r.Err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done.Failed[reason]++
	l.done.Tasks[r.Task.State.String()]++
	l.done.Retries += r.Retries
}

// reason names why a transfer failed, and says whether a path was to blame. It is empty
// if nothing that was done explains it.
func (l *load) reason(r transfer.Report) (reason string, path bool) {
	err, text := r.Err, r.Err.Error()
	var mismatch *transfer.MismatchError
	switch {
	case errors.Is(err, errCancelled):
		return "cancelled", false
	case errors.As(err, &mismatch):
		if l.site.numbers.Lies && r.Op == transfer.Read {
			l.mu.Lock()
			l.done.Lies++
			l.mu.Unlock()
			return "checksum: the fabric completed a READ without its data", false
		}
		l.site.court.broken(Payload, "%v", err)
		return "checksum", false
	case errors.Is(err, transfer.ErrPeerGone), errors.Is(err, transfer.ErrClosed):
		return "peer gone", false
	case errors.Is(err, transfer.ErrAllPaused):
		return "all paths paused", true
	case errors.Is(err, transfer.ErrNoUsablePath):
		return "no path with an endpoint", true
	case strings.Contains(text, "failed") && strings.Contains(text, "times, last on"):
		return "too many attempts", true
	case strings.Contains(text, "RemoteMetadata"):
		return "remote metadata", true
	case strings.Contains(text, "LocalConfiguration"):
		return "local configuration", true
	case strings.Contains(text, "post on "):
		return "post refused", false
	}
	return "", false
}
