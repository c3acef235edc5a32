package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
)

// recordOptions say whether the run is recorded.
type recordOptions struct {
	file   string
	serial bool
}

func (o *recordOptions) flags(f *flag.FlagSet) {
	f.StringVar(&o.file, "record", "", "`file` to record into what the controller is asked and answers, for examples/replay")
	f.BoolVar(&o.serial, "record-serial", false, "with -record: one call at a time, so that a replay is exact; slower")
}

func (o *recordOptions) validate(mode string) error {
	switch {
	case o.serial && o.file == "":
		return fmt.Errorf("%w: -record-serial without -record: give the file too", errUsage)
	case o.file != "" && mode == cc.Off.String():
		return fmt.Errorf("%w: -record %s: in mode off there is nothing to record; use observe or enforce", errUsage, o.file)
	}
	return nil
}

// recordSlots is how many records the recorder's memory holds, of 64 bytes each: they
// last for a second of a busy engine.
const recordSlots = 1 << 18

// recording is a run that is recorded; nil if it is not.
type recording struct {
	rec *recorder.Recorder
	f   *os.File
}

// begin opens the file.
func (o *recordOptions) begin() (*recording, error) {
	if o.file == "" {
		return nil, nil
	}
	f, err := os.Create(o.file)
	if err != nil {
		return nil, fmt.Errorf("-record: %w", err)
	}
	options := []recorder.Option{recorder.Slots(recordSlots), recorder.Stream(f, recorder.Binary)}
	if o.serial {
		options = append(options, recorder.Serial())
	}
	return &recording{recorder.New(options...), f}, nil
}

// option has a controller recorded.
func (r *recording) option() cc.Option {
	if r == nil {
		return cc.WithRecorder(nil)
	}
	return cc.WithRecorder(r.rec)
}

// end writes the rest and says how much there is. The controller is closed by now.
func (r *recording) end(out io.Writer) error {
	if r == nil {
		return nil
	}
	err := r.rec.Close()
	if closed := r.f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("-record: %w", err)
	}
	c := r.rec.Counters()
	fmt.Fprintf(out, "Recorded: %d records, %s", c.Streamed, bytesText(int64(c.StreamedBytes)))
	if c.Lost > 0 {
		fmt.Fprintf(out, "; %d were lost, which the file says where", c.Lost)
	}
	fmt.Fprintln(out)
	return nil
}

// guestRecord is a folder that the guest writes a recording into: nothing else that the
// guest writes reaches this machine.
type guestRecord struct {
	dir, file string
}

// inGuest makes the folder, beside the file. Its zero value is of a run without recording.
func (o *recordOptions) inGuest() (g guestRecord, err error) {
	if o.file == "" {
		return g, nil
	}
	if g.file, err = filepath.Abs(o.file); err == nil {
		g.dir, err = os.MkdirTemp(filepath.Dir(g.file), ".record-*")
	}
	if err != nil {
		return g, fmt.Errorf("-record: %w", err)
	}
	return g, nil
}

// args are the flags for the guest beside those that it is given anyway.
func (g guestRecord) args() []string {
	if g.dir == "" {
		return nil
	}
	return []string{"-record", filepath.Join(g.dir, filepath.Base(g.file))}
}

// end gives the recording its name, if there is one, and removes the folder.
func (g guestRecord) end() error {
	if g.dir == "" {
		return nil
	}
	defer os.RemoveAll(g.dir)
	err := os.Rename(filepath.Join(g.dir, filepath.Base(g.file)), g.file)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("-record: %w", err)
	}
	return nil
}
