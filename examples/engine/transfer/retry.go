package transfer

import (
	"fmt"

	"github.com/rdmagate/rdmagate/classify"
)

// mayRetry returns nil if another attempt can help, else why not.
func (w *worker) mayRetry(s *slice, r *rail) error {
	v := s.verdict
	switch {
	case v.Action() == classify.ActionFailOperation, v.Class() == classify.ClassLocalConfiguration:
		return fmt.Errorf("slice at %d on %s: %v", s.offset, r.pair, v)
	case v.Action() == classify.ActionRefreshMetadata:
		return &metadataError{fmt.Sprintf("slice at %d on %s: %v", s.offset, r.pair, v)}
	case s.attempts >= w.engine.cfg.MaxAttempts:
		return fmt.Errorf("slice at %d failed %d times, last on %s: %v", s.offset, s.attempts, r.pair, v)
	}
	return nil
}

// metadataError fails a transfer whose keys the peer no longer honours.
type metadataError struct{ text string }

func (e *metadataError) Error() string { return e.text }
