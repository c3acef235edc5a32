package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkCompletion holds for every status and every vendor_err.
func checkCompletion(t *testing.T, status, vendor uint32) {
	t.Helper()
	v := Completion(Status(status), vendor)
	require.Equal(t, status, v.Raw(), "raw status is kept")
	require.Equal(t, vendor, v.VendorErr(), "vendor_err is kept")
	require.True(t, v.Completed() && v.Releases() && v.EndsAttempt(), "status %d: every completion settles its attempt", status)
	require.LessOrEqual(t, v.Scope(), ScopeQP, "status %d: a completion reaches its QP at most", status)
	require.False(t, v.Immediate(), "status %d: a completion isolates nothing at once", status)
	require.NotEmpty(t, v.String())
	require.NotEmpty(t, v.Row())

	v.vendorErr = 0
	require.Equal(t, Completion(Status(status), 0), v, "status %d: vendor_err %#x must not matter", status, vendor)
	if status > uint32(StatusTMRndvIncomplete) {
		require.Equal(t, ClassFatal, v.Class(), "status %d is unknown and fails closed", status)
		require.Equal(t, ScopeQP, v.Scope())
		require.Equal(t, ActionRetireQP, v.Action())
		require.True(t, v.Countable(), "status %d: one hard error", status)
		require.False(t, v.Succeeded())
	}
}

// checkEvent holds for every event type and every element.
func checkEvent(t *testing.T, number uint32, e Element) {
	t.Helper()
	event := EventType(number)
	v, err := Event{Type: event, Element: e}.Verdict()
	if err != nil {
		require.Equal(t, Verdict{}, v, "an event without its element is no verdict")
		require.ErrorIs(t, err, ErrNoElement)
		require.NotEqual(t, ScopeNone, AsyncEvent(event).Scope())
		return
	}
	require.Equal(t, AsyncEvent(event), v)
	require.Equal(t, number, v.Raw(), "raw event is kept")
	require.False(t, v.Completed() || v.Succeeded() || v.Releases() || v.EndsAttempt(), "event %d settles no attempt", number)
	require.NotEmpty(t, v.String())
	if v.Scope() != ScopeNone {
		require.True(t, e.Names(event.Object()), "event %d reaches something it does not name", number)
	}
	if number > uint32(EventWQFatal) {
		requireNothing(t, v)
		require.Equal(t, ObjectNone, event.Object(), "event %d", number)
	}
}

// requireNothing says that a verdict changes nothing.
func requireNothing(t *testing.T, v Verdict) {
	t.Helper()
	require.Equal(t, ClassNone, v.Class(), "%s", v)
	require.Equal(t, ScopeNone, v.Scope(), "%s", v)
	require.Equal(t, ActionNone, v.Action(), "%s", v)
	require.Equal(t, ReasonNone, v.Reason(), "%s", v)
	require.Empty(t, marks(v), "%s", v)
}

func TestEveryStatusAndVendorCode(t *testing.T) {
	for status := uint32(0); status < 256; status++ {
		for _, vendor := range []uint32{0, 0x0a, 0x51, 0x81, 0x88, 0xf9} {
			checkCompletion(t, status, vendor)
		}
	}
	minusOne := int32(-1)
	checkCompletion(t, uint32(minusOne), 0)
}

func TestEveryEventNumber(t *testing.T) {
	for number := uint32(0); number < 256; number++ {
		checkEvent(t, number, complete)
		checkEvent(t, number, Element{})
	}
	minusOne := int32(-1)
	checkEvent(t, uint32(minusOne), complete)
}

func FuzzCompletion(f *testing.F) {
	for _, status := range []uint32{0, 5, 12, 13, 23, 24, 31, 32, 99, 255, 1 << 31, 1<<32 - 1} {
		for _, vendor := range []uint32{0, 0x0a, 0x51, 0x81, 0x88, 0xf9, 1<<32 - 1} {
			f.Add(status, vendor)
		}
	}
	f.Fuzz(checkCompletion)
}

func FuzzEvent(f *testing.F) {
	for number := uint32(0); number < 40; number++ {
		f.Add(number, "mlx5_0", uint8(1), uint64(17), uint64(3), uint64(4), uint64(5))
		f.Add(number, "", uint8(0), uint64(0), uint64(0), uint64(0), uint64(0))
	}
	f.Add(uint32(1<<32-1), "mlx5_0", uint8(255), uint64(1<<64-1), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, number uint32, device string, port uint8, qp, cq, srq, wq uint64) {
		checkEvent(t, number, Element{Device: device, Port: port, QP: qp, CQ: cq, SRQ: srq, WQ: wq})
	})
}

func FuzzSignalAndCMEvent(f *testing.F) {
	for number := uint32(0); number < 40; number++ {
		f.Add(number, number)
	}
	f.Add(uint32(255), uint32(1<<32-1))
	f.Fuzz(func(t *testing.T, signal, number uint32) {
		v := Of(Signal(signal))
		assert.False(t, v.Completed() || v.Succeeded(), "signal %d is no completion", uint8(signal))
		require.NotEmpty(t, v.String())

		v = CMEvent(CMEventType(number))
		require.Equal(t, number, v.Raw(), "raw event is kept")
		require.False(t, v.Completed() || v.Succeeded() || v.Countable(), "CM event %d is no hard error", number)
		require.NotEmpty(t, v.String())
		if number > uint32(CMEventInternal) {
			requireNothing(t, v)
		}
		require.Equal(t, number, RejectedPost(number).Raw(), "errno is kept")
	})
}
