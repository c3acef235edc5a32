package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// controlTimeout is how long a peer may take to answer, or to take in, a request
// while nothing at all comes from it. After that the peer counts as gone.
const controlTimeout = 10 * time.Second

// control is the asking side of a control connection. Many requests may be under
// way at once. It is safe for concurrent use.
type control struct {
	conn  net.Conn
	ended chan struct{} // closed when the connection is over

	writing chan struct{} // holds a token while nobody writes

	mu      sync.Mutex
	heard   time.Time // when the latest answer came
	last    uint64
	waiting map[uint64]chan response
	err     error // why the connection ended
}

func newControl(conn net.Conn) *control {
	c := &control{
		conn: conn, ended: make(chan struct{}), writing: make(chan struct{}, 1), waiting: map[uint64]chan response{},
	}
	c.writing <- struct{}{}
	go c.read()
	return c
}

// read hands responses to those who wait for them, until the connection ends.
func (c *control) read() {
	lines := newLines(c.conn)
	for lines.Scan() {
		var r response
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			c.end(fmt.Errorf("control connection: the peer sent no JSON: %w", err))
			return
		}
		c.mu.Lock()
		c.heard = time.Now()
		waiter := c.waiting[r.ID]
		delete(c.waiting, r.ID)
		c.mu.Unlock()
		if waiter != nil {
			waiter <- r
		}
	}
	err := lines.Err()
	if err == nil {
		err = io.EOF
	}
	c.end(fmt.Errorf("control connection ended: %w: %w", ErrPeerGone, err))
}

func (c *control) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.ended)
		c.conn.Close()
	}
}

// Close ends the connection.
func (c *control) Close() { c.end(fmt.Errorf("control connection: %w", ErrClosed)) }

// failure returns why the connection ended, nil while it stands.
func (c *control) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// call sends a request and decodes the answer into answer, which may be nil. It ends
// with ctx, and a peer that stays silent for controlTimeout ends the connection.
func (c *control) call(ctx context.Context, op string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("transfer: %s: %w", op, err)
	}
	id, waiter, err := c.expect()
	if err != nil {
		return fmt.Errorf("transfer: %s: %w", op, err)
	}
	defer c.forget(id)
	line, err := encode(request{ID: id, Op: op, Body: raw})
	if err != nil {
		return fmt.Errorf("transfer: %s: %w", op, err)
	}
	if err := c.send(ctx, line); err != nil {
		return fmt.Errorf("transfer: %s: %w", op, err)
	}
	r, err := c.await(ctx, waiter)
	switch {
	case err != nil:
		return fmt.Errorf("transfer: %s: %w", op, err)
	case r.Unreachable:
		return fmt.Errorf("transfer: the peer refused %s: %s: %w", op, r.Error, errUnreachable)
	case r.Error != "":
		return fmt.Errorf("transfer: the peer refused %s: %s", op, r.Error)
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(r.Body, answer); err != nil {
		return fmt.Errorf("transfer: answer to %s: %w", op, err)
	}
	return nil
}

// await waits for the answer to a request that was sent just now.
func (c *control) await(ctx context.Context, waiter <-chan response) (response, error) {
	asked := time.Now()
	timer := time.NewTimer(controlTimeout)
	defer timer.Stop()
	for {
		select {
		case r := <-waiter:
			return r, nil
		case <-c.ended:
			return response{}, c.failure()
		case <-ctx.Done():
			return response{}, fmt.Errorf("no answer from the peer: %w", context.Cause(ctx))
		case <-timer.C:
			// A peer that is busy answers the others one by one.
			quiet := c.quiet(asked)
			if quiet >= controlTimeout {
				c.end(fmt.Errorf("control connection: %w: nothing came for %v while an answer was due", ErrPeerGone, controlTimeout))
				return response{}, c.failure()
			}
			timer.Reset(controlTimeout - quiet)
		}
	}
}

// quiet returns for how long the peer has been silent, counted from then at most.
func (c *control) quiet(then time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heard.After(then) {
		then = c.heard
	}
	return time.Since(then)
}

func (c *control) expect() (uint64, chan response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	c.last++
	waiter := make(chan response, 1)
	c.waiting[c.last] = waiter
	return c.last, waiter, nil
}

func (c *control) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// send writes a line, for as long as ctx lasts, but no longer than controlTimeout. A
// line that was cut off ends the connection; one that was not begun does not.
func (c *control) send(ctx context.Context, line []byte) error {
	select {
	case <-c.writing:
		defer func() { c.writing <- struct{}{} }()
	case <-c.ended:
		return c.failure()
	case <-ctx.Done():
		return fmt.Errorf("the peer takes no request: %w", context.Cause(ctx))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.conn.SetWriteDeadline(time.Now().Add(controlTimeout)); err != nil {
		return fmt.Errorf("%w: %w", ErrPeerGone, err)
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		_ = c.conn.SetWriteDeadline(time.Unix(1, 0)) // the write returns at once
	})
	n, err := c.conn.Write(line)
	if !stop() {
		<-interrupted
	}
	switch {
	case err == nil:
		return nil
	case n == 0 && ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the peer takes no request: %w", context.Cause(ctx))
	}
	c.end(fmt.Errorf("control connection: %w: %w", ErrPeerGone, err))
	return c.failure()
}

// newLines reads a control connection line by line.
func newLines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxMessage)
	return s
}

// encode returns one JSON value and a line end.
func encode(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(line) >= maxMessage {
		return nil, fmt.Errorf("message of %d bytes: the control connection carries up to %d; ask for less at once", len(line), maxMessage-1)
	}
	return append(line, '\n'), nil
}

// writeLine writes one JSON value and a line end, within controlTimeout.
func writeLine(conn net.Conn, v any) error {
	line, err := encode(v)
	if err != nil {
		return err
	}
	if err := conn.SetWriteDeadline(time.Now().Add(controlTimeout)); err != nil {
		return err
	}
	_, err = conn.Write(line)
	return err
}
