package transfer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A slot that has a new owner is not found by a completion of the former one.
func TestSlotsTellOwnersApart(t *testing.T) {
	var table slots
	qp := &queuePair{number: 7}
	first := &slice{use: 100, qp: qp}
	table.take(first)
	old := first.wrID()
	assert.Same(t, first, table.find(old, 7))
	assert.Equal(t, 1, table.used())

	table.give(first)
	assert.Nil(t, table.find(old, 7), "the slot is free")
	second := &slice{use: 200, qp: qp}
	table.take(second)
	assert.Equal(t, first.slot, second.slot, "slots are reused")
	assert.Nil(t, table.find(old, 7), "the use number is the former owner's")
	assert.Same(t, second, table.find(second.wrID(), 7))
	assert.Nil(t, table.find(second.wrID(), 8), "the completion is another QP's")
	assert.Nil(t, table.find(99<<32|200, 7), "there is no such slot")
}

func TestQueueServesReturnedSlicesFirst(t *testing.T) {
	var q queue
	var s [4]slice
	for i := range s[:3] {
		q.add(&s[i])
	}
	assert.Equal(t, 3, q.len())
	assert.Same(t, &s[0], q.next())
	q.drop()
	q.putBack(&s[3])
	assert.Same(t, &s[3], q.next(), "a slice that came back is next")
	q.drop()
	for _, want := range []*slice{&s[1], &s[2]} {
		assert.Same(t, want, q.next())
		q.drop()
	}
	assert.Zero(t, q.len())
}
