package main

import (
	"context"
	"time"

	"github.com/rdmagate/rdmagate/examples/top/live"
	"github.com/rdmagate/rdmagate/examples/top/screen"
)

// show looks at a source and draws what it sees until ctx ends, or once.
func show(ctx context.Context, s *source, title func() string, o options, t *terminal) error {
	now, err := look(ctx, s, t)
	if err != nil {
		return ended(ctx, err)
	}
	resized, stop := t.resized()
	defer stop()
	if !o.once {
		t.begin()
		defer t.end()
		t.draw(screen.Frame(nil, now, title(), t.size(), t.style))
	}
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	var then *live.State
	answered, lost := time.Now(), ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-resized:
		case <-tick.C:
			next, err := look(ctx, s, t)
			switch {
			case err == nil:
				earlier := now
				then, now, answered, lost = &earlier, next, time.Now(), ""
			case ctx.Err() != nil:
				return nil
			case o.once:
				return err
			default: // what was seen last stays on the screen
				lost = "no answer for " + time.Since(answered).Round(time.Second).String() + ": " + err.Error()
			}
		}
		text := title()
		if lost != "" {
			text = lost
		}
		t.draw(screen.Frame(then, now, text, t.size(), t.style))
		if o.once && then != nil {
			return nil
		}
	}
}

// look asks for as many routes and transitions as the terminal has rows.
func look(ctx context.Context, s *source, t *terminal) (live.State, error) {
	rows := t.size().Rows
	return s.state(ctx, rows, rows)
}

// ended returns no error where the user ended the program.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
