package classify

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestZeroVerdictIsNoVerdict(t *testing.T) {
	var v Verdict
	assert.Equal(t, ClassNone, v.Class())
	assert.Equal(t, ScopeNone, v.Scope())
	assert.Equal(t, ActionNone, v.Action())
	assert.Equal(t, ReasonNone, v.Reason())
	assert.Equal(t, SourceNone, v.Source())
	assert.Zero(t, v.Raw())
	assert.Zero(t, v.VendorErr())
	assert.Empty(t, marks(v), "nothing was observed, so nothing counts, ends or releases")
	assert.False(t, v.Succeeded())
	assert.False(t, v.Completed())
	assert.Equal(t, "no observation", v.Row())
	assert.Equal(t, "no verdict", v.String())
}

func TestVerdictIsSmallAndComparable(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(Verdict{}), 3*unsafe.Sizeof(uintptr(0)), "three words at most")
	seen := map[Verdict]bool{Completion(StatusGeneralErr, 7): true}
	assert.True(t, seen[Completion(StatusGeneralErr, 7)], "equal observations give equal verdicts")
	assert.False(t, seen[Completion(StatusGeneralErr, 8)], "vendor_err is part of the value")
}

func TestSuccessIsACompletionWithSuccess(t *testing.T) {
	for status := Status(0); status < 40; status++ {
		assert.Equal(t, status == StatusSuccess, Completion(status, 7).Succeeded(), "status %d, whatever vendor_err says", status)
		assert.True(t, Completion(status, 0).Completed(), "status %d", status)
	}
	assert.False(t, Of(SignalCongestedRoute).Succeeded(), "a sample over many transfers is not a transfer")
	for _, v := range []Verdict{AsyncEvent(EventPortActive), Of(SignalTeardown), CMEvent(CMEventEstablished)} {
		assert.False(t, v.Succeeded(), "%s", v)
		assert.False(t, v.Completed(), "%s", v)
	}
}

func TestVendorErrIsKeptAndNeverRead(t *testing.T) {
	for status := Status(0); status < 40; status++ {
		plain := Completion(status, 0)
		for _, vendor := range []uint32{0x0a, 0x51, 0x81, 0x88, 0xf9, 1<<32 - 1} {
			v := Completion(status, vendor)
			assert.Equal(t, vendor, v.VendorErr(), "status %d keeps vendor_err", status)
			v.vendorErr = 0
			assert.Equal(t, plain, v, "status %d with vendor_err %#x must mean what it means without", status, vendor)
		}
	}
}

func TestRejectedPostKeepsTheErrno(t *testing.T) {
	const enomem, einval = 12, 22
	for _, errno := range []uint32{enomem, einval, 0, 1<<32 - 1} {
		v := RejectedPost(errno)
		assert.Equal(t, errno, v.Raw(), "errno is kept")
		v.raw = uint32(SignalRejectedPost)
		assert.Equal(t, Of(SignalRejectedPost), v, "errno %d must not change the verdict", errno)
	}
}

func TestValuesThatAreNoSignalGiveNoVerdict(t *testing.T) {
	for s := 0; s < 256; s++ {
		known := s >= int(SignalCongestedRoute) && s <= int(SignalNoRail)
		assert.Equal(t, known, Of(Signal(s)) != Verdict{}, "signal %d", s)
	}
}

func TestStringNamesObservationAndVerdict(t *testing.T) {
	for _, tt := range []struct {
		name string
		v    Verdict
		want string
	}{
		{"completion", Completion(StatusRetryExcErr, 0x81),
			"completion 12 (transport retries exceeded), vendor_err 0x81: RouteTimeout, scope QP, retire the QP"},
		{"unknown completion", Completion(1<<32-1, 0),
			"completion 4294967295 (Status(4294967295)), vendor_err 0x0: Fatal, scope QP, retire the QP"},
		{"event", AsyncEvent(EventPortErr),
			"event 10 (port error): Fatal, scope port, isolate the port"},
		{"unknown event", AsyncEvent(77),
			"event 77 (EventType(77)): None, scope none, nothing to do"},
		{"connection manager event", CMEvent(CMEventDisconnected),
			"CM event 10 (disconnected): Connection, scope route, reconnect"},
		{"signal", Of(SignalDeadlineStalled),
			"deadline passed with a stalled poller: NonFailure, scope operation, keep using"},
		{"rejected post", RejectedPost(12),
			"post rejected, errno 12: NotPosted, scope operation, return the error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, tt.v.String())
		})
	}
}

// TestScopeNeverExceedsTheElement: what an event reaches is the object that it
// names, or for a failed path migration that QP's route.
func TestScopeNeverExceedsTheElement(t *testing.T) {
	widest := map[Object]Scope{
		ObjectNone: ScopeNone, ObjectQP: ScopeQP, ObjectWQ: ScopeQP, ObjectSRQ: ScopeQP,
		ObjectCQ: ScopeCQ, ObjectPort: ScopePort, ObjectDevice: ScopeDevice,
	}
	for n := EventType(0); n < 256; n++ {
		limit := widest[n.Object()]
		if n == EventPathMigErr {
			limit = ScopeRoute
		}
		assert.LessOrEqual(t, AsyncEvent(n).Scope(), limit, "%s names a %s", n, n.Object())
	}
}
