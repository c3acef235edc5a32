package cc

import (
	"fmt"
	"time"
)

// Surroundings are facts about a deployment that a controller cannot see. 0 is
// unknown.
type Surroundings struct {
	// RetryTime is how long the hardware retries before it reports RETRY_EXC:
	// roughly the QP's timeout times its retry count plus one, and up to four times
	// that in practice.
	RetryTime time.Duration
	// FanIn is how many senders may post to one receiver at once.
	FanIn int
	// BufferBytes is the buffer of the switch port towards the receiver.
	BufferBytes int64
	// RNRRetry is the QP's rnr_retry.
	RNRRetry uint8
}

// rnrForever is the rnr_retry that never gives up.
const rnrForever = 7

// Advice names settings that are valid but will not work well there, each with the
// values, the reason and a remedy; nil if nothing is wrong.
//
//   - An error window shorter than the retry time: failures that follow each other
//     as fast as the hardware reports them do not add up to the threshold. (The
//     window widens once retry times were observed, up to 60 s.)
//   - The minimum window times the fan-in above the buffer: the controller cannot
//     slow the senders down far enough.
//   - RNR retry 7: the hardware waits for ever, and a receiver that is not ready is
//     never reported.
func (c Config) Advice(s Surroundings) (advice []string) {
	say := func(format string, args ...any) { advice = append(advice, fmt.Sprintf(format, args...)) }
	if s.RetryTime > c.ErrorWindow {
		say("ErrorWindow is %s and the hardware retries for %s: failures in a row may not add up; use more than the retry time, or a shorter QP timeout",
			c.ErrorWindow, s.RetryTime)
	}
	if s.FanIn > 0 && s.BufferBytes > 0 && c.MinWindowBytes > s.BufferBytes/int64(s.FanIn) {
		say("MinWindowBytes is %d, and %d senders that keep to it overrun a buffer of %d bytes; use at most %d",
			c.MinWindowBytes, s.FanIn, s.BufferBytes, max(1, s.BufferBytes/int64(s.FanIn)))
	}
	if s.RNRRetry == rnrForever {
		say("rnr_retry is %d, which waits for ever: a receiver that is not ready is never reported; use less", s.RNRRetry)
	}
	return advice
}
