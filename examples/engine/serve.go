package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/fabric/verbsfabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// serve lends memory to engines of other processes until ctx ends.
func serve(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, o := newFlags("serve", stderr)
	listen := f.String("listen", "127.0.0.1:7471", "TCP `address` for control connections")
	name := f.String("name", "server", "what peers call this machine")
	room := size(transfer.DefaultServerConfig().MaxBytes)
	f.Var(&room, "max-bytes", "`bytes` that all objects may have together")
	if err := o.parse(f, args); err != nil {
		return err
	}
	host, err := openHost(o)
	if err != nil {
		return err
	}
	return errors.Join(serveOn(ctx, o, host, *listen, *name, int64(room), stdout, stderr), host.Close())
}

// serveOn serves on a host.
func serveOn(ctx context.Context, o *options, host fabric.Host, listen, name string, room int64, stdout, stderr io.Writer) error {
	cfg := o.serverConfig(name, o.logger(stderr))
	cfg.MaxBytes = room
	s, err := transfer.NewServer(host, cfg)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return errors.Join(fmt.Errorf("-listen %s: %w", listen, err), s.Close())
	}
	fmt.Fprintln(stdout, "Fabric:", host.Name())
	fmt.Fprintln(stdout, "serving at", l.Addr())
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	return errors.Join(s.Listen(l), s.Close())
}

// openHost opens the fabric of a command that talks to another process.
func openHost(o *options) (fabric.Host, error) {
	if o.fabric == "sim" {
		return nil, fmt.Errorf("%w: -fabric sim: the simulated fabric lives inside one process; use the demo command, or -fabric verbs", errUsage)
	}
	return verbsfabric.Open("RDMA devices of this machine", o.names()...)
}
