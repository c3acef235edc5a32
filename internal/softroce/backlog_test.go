package softroce

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attr makes an attribute, padded.
func attr(kind uint16, value []byte) []byte {
	order := binary.NativeEndian
	a := order.AppendUint16(nil, uint16(attrAlignment+len(value)))
	a = append(order.AppendUint16(a, kind), value...)
	for len(a)%attrAlignment != 0 {
		a = append(a, 0)
	}
	return a
}

func message(kind uint16, body []byte) []byte {
	m := make([]byte, headerBytes, headerBytes+len(body))
	binary.NativeEndian.PutUint32(m, uint32(headerBytes+len(body)))
	binary.NativeEndian.PutUint16(m[4:], kind)
	return append(m, body...)
}

func TestReadBacklog(t *testing.T) {
	var queue []byte
	for _, v := range []uint32{40, 43280, 17, 0, 0} {
		queue = binary.NativeEndian.AppendUint32(queue, v)
	}
	stats := append(attr(1, make([]byte, 12)), attr(attrQueue, queue)...)
	body := append(make([]byte, tcmsgBytes), attr(1, []byte("netem\x00"))...)
	whole := message(messageQdisc, append(body, attr(attrStats2|0x8000, stats)...))

	b, err := readBacklog(whole)
	require.NoError(t, err)
	assert.Equal(t, Backlog{Packets: 40, Bytes: 43280, Drops: 17}, b)

	for n := range whole { // cut anywhere, it is an error and no panic
		_, err := readBacklog(whole[:n])
		assert.Error(t, err, "%d of %d bytes", n, len(whole))
	}
	refused := int32(-19)
	_, err = readBacklog(message(messageError, binary.NativeEndian.AppendUint32(nil, uint32(refused))))
	assert.ErrorContains(t, err, "error 19")
}
