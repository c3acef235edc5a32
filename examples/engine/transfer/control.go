package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// control is the asking side of a control connection. Many requests may be under
// way at once. It is safe for concurrent use.
type control struct {
	conn  net.Conn
	ended chan struct{} // closed when the connection is over

	writing sync.Mutex

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan response
	err     error // why the connection ended
}

func newControl(conn net.Conn) *control {
	c := &control{conn: conn, ended: make(chan struct{}), waiting: map[uint64]chan response{}}
	go c.read()
	return c
}

// read hands responses to those who wait for them, until the connection ends.
func (c *control) read() {
	lines := newLines(c.conn)
	for lines.Scan() {
		var r response
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			c.end(fmt.Errorf("transfer: control connection: the peer sent no JSON: %w", err))
			return
		}
		c.mu.Lock()
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
	c.end(fmt.Errorf("transfer: control connection ended: %w: %w", ErrPeerGone, err))
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
func (c *control) Close() { c.end(fmt.Errorf("transfer: control connection: %w", ErrClosed)) }

// failure returns why the connection ended, nil while it stands.
func (c *control) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// call sends a request and decodes the answer into answer, which may be nil.
func (c *control) call(ctx context.Context, op string, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("transfer: %s: %w", op, err)
	}
	id, waiter, err := c.expect()
	if err != nil {
		return err
	}
	defer c.forget(id)
	if err := c.send(request{ID: id, Op: op, Body: raw}); err != nil {
		return fmt.Errorf("transfer: %s: %w: %w", op, ErrPeerGone, err)
	}
	select {
	case r := <-waiter:
		if r.Error != "" {
			return fmt.Errorf("transfer: the peer refused %s: %s", op, r.Error)
		}
		if answer == nil {
			return nil
		}
		if err := json.Unmarshal(r.Body, answer); err != nil {
			return fmt.Errorf("transfer: answer to %s: %w", op, err)
		}
		return nil
	case <-c.ended:
		return c.failure()
	case <-ctx.Done():
		return fmt.Errorf("transfer: %s: no answer from the peer: %w", op, context.Cause(ctx))
	}
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

func (c *control) send(r request) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return writeLine(c.conn, r)
}

// newLines reads a control connection line by line.
func newLines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxMessage)
	return s
}

// writeLine writes one JSON value and a line end.
func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(line) >= maxMessage {
		return errors.New("message is too long for the control connection")
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
