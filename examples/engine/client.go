package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// client is the engine of a put or get command, connected to a server.
type client struct {
	host   fabric.Host
	ctl    *cc.Controller
	engine *transfer.Engine
	peer   *transfer.Peer
	record *recording
	out    io.Writer
}

// dialTimeout bounds the wait for a server's control connection.
const dialTimeout = 10 * time.Second

// newClient connects an engine on the host to the server at a TCP address. It owns
// the host from now on, and closes it when it fails.
func newClient(ctx context.Context, o *options, host fabric.Host, server string, stdout, stderr io.Writer) (c *client, err error) {
	c = &client{host: host, out: stdout}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.shut())
		}
	}()
	if c.record, err = o.record.begin(); err != nil {
		return c, err
	}
	if c.ctl, err = o.controller(c.record.option()); err != nil {
		return c, err
	}
	name, err := os.Hostname()
	if err != nil {
		name = "client"
	}
	opts := append(o.rails.engineOptions(), transfer.WithName(name), transfer.WithLogger(o.logger(stderr)))
	c.engine, err = transfer.New(host, c.ctl, o.engineConfig(), opts...)
	if err != nil {
		return c, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", server)
	if err != nil {
		return c, fmt.Errorf("-server %s: %w; start one with engine serve", server, err)
	}
	fmt.Fprintln(stdout, "Fabric:", host.Name())
	c.peer, err = c.engine.Connect(ctx, conn)
	return c, err
}

func (c *client) shut() error {
	var faults []error
	if c.engine != nil {
		faults = append(faults, c.engine.Close())
	}
	if c.ctl != nil {
		c.ctl.Close()
	}
	return errors.Join(append(faults, c.record.end(c.out), c.host.Close())...)
}

// end tells what became of the transfer, closes everything, and returns an error
// unless the bytes matched and every permit came back.
func (c *client) end(r transfer.Report, failure error) error {
	outcome := "done"
	if failure != nil {
		outcome = "failed"
	} else {
		fmt.Fprintf(c.out, "%v of %q: %s moved and compared in %s\n", r.Op, r.Object, bytesText(r.Checked), timeText(r.Took))
	}
	fmt.Fprintln(c.out, taskText(r, outcome))
	failure = errors.Join(failure, c.shut())
	printTotals(c.out, c.engine.Totals())
	return errors.Join(failure, printInFlight(c.out, c.ctl.Snapshot(), c.peer))
}
