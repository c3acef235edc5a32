package transfer

import (
	"context"
	"time"
)

// tickInterval is how often the engine has the controller look after its windows
// and routes.
const tickInterval = 15 * time.Millisecond

// monitor drives the controller until ctx ends: windows move and silent routes are
// found while it ticks. Several engines of one controller may tick it.
func (e *Engine) monitor(ctx context.Context) {
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			e.ctl.Tick(e.ctl.Now())
		case <-ctx.Done():
			return
		}
	}
}
