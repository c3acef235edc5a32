package main

import (
	"context"
	"errors"
	"io"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// get reads one object of a server.
func get(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, o := newFlags("get", stderr)
	server := f.String("server", "127.0.0.1:7471", "TCP `address` of the server")
	object := f.String("object", "object", "`name` of the object")
	file := f.String("file", "", "`file` to keep the bytes in; they are only compared if empty")
	o.record.flags(f)
	if err := o.parse(f, args); err != nil {
		return err
	}
	host, err := openHost(o)
	if err != nil {
		return err
	}
	return getTo(ctx, o, host, *server, *object, *file, stdout, stderr)
}

// getTo reads one object to a host, and closes the host.
func getTo(ctx context.Context, o *options, host fabric.Host, server, object, file string, stdout, stderr io.Writer) error {
	var out *outFile
	if file != "" {
		var err error
		if out, err = openOutFile(file); err != nil {
			return errors.Join(err, host.Close())
		}
		defer out.end()
	}
	c, err := newClient(ctx, o, host, server, stdout, stderr)
	if err != nil {
		return err
	}
	b, report, err := c.peer.Get(ctx, object)
	if err == nil && out != nil {
		err = out.write(b.Bytes())
	}
	if b != nil {
		err = errors.Join(err, b.Close())
	}
	return c.end(report, err)
}
