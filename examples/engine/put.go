package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
	"github.com/rdmagate/rdmagate/examples/engine/transfer"
)

// put writes one object to a server.
func put(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, o := newFlags("put", stderr)
	server := f.String("server", "127.0.0.1:7471", "TCP `address` of the server")
	object := f.String("object", "object", "`name` of the new object")
	file := f.String("file", "", "`file` to write; random bytes if empty")
	count := size(64 << 20)
	f.Var(&count, "bytes", "`bytes` to write when no file is given")
	o.record.flags(f)
	if err := o.parse(f, args); err != nil {
		return err
	}
	host, err := openHost(o)
	if err != nil {
		return err
	}
	return putFrom(ctx, o, host, *server, *object, *file, int64(count), stdout, stderr)
}

// putFrom writes one object from a host, and closes the host.
func putFrom(ctx context.Context, o *options, host fabric.Host, server, object, file string, count int64, stdout, stderr io.Writer) error {
	c, err := newClient(ctx, o, host, server, stdout, stderr)
	if err != nil {
		return err
	}
	b, err := load(c.engine, file, count)
	if err != nil {
		return errors.Join(err, c.shut())
	}
	report, err := c.peer.Put(ctx, object, b)
	err = errors.Join(err, b.Close())
	return c.end(report, err)
}

// maxRandom bounds what put makes up, in bytes: all of it is in memory at once.
const maxRandom = 16 << 30

// load returns a buffer with a file's bytes, or random ones.
func load(e *transfer.Engine, file string, count int64) (*transfer.Buffer, error) {
	var content []byte
	if file != "" {
		var err error
		if content, err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("-file: %w", err)
		}
		if count = int64(len(content)); count == 0 {
			return nil, fmt.Errorf("-file %s is empty; there is nothing to move", file)
		}
	}
	if file == "" && (count < 1 || count > min(maxRandom, math.MaxInt)) {
		return nil, fmt.Errorf("%w: -bytes %d: must be 1 to %d (%s)", errUsage, count, int64(maxRandom), bytesText(maxRandom))
	}
	b, err := e.NewBuffer(int(count))
	if err != nil {
		return nil, err
	}
	if file != "" {
		copy(b.Bytes(), content)
	} else {
		fill(b.Bytes(), rand.Uint64())
	}
	return b, nil
}
