package taskstate

import "sync/atomic"

// numberBlock is how many numbers a record takes at a time.
const numberBlock = 1 << 16

// numberBlocks counts the blocks of evidence numbers that were handed out.
var numberBlocks atomic.Uint64

// pendingNumber stands for the number of evidence that is being recorded.
const pendingNumber = ^uint64(0)

// takeNumbers returns the number before the first of a fresh block. Every block
// lies above all that were taken before it.
func takeNumbers() uint64 { return numberBlocks.Add(1) * numberBlock }

// newRecord returns an empty record, whose numbers all lie above its base. Evidence
// numbers are unique in the process and only grow, so that they also tell the
// records of one task apart: what a former record of the task has counted, before
// the task was zeroed in place, lies at the base or below.
func newRecord() *record {
	base := takeNumbers()
	return &record{base: base, last: base}
}

// nextNumber numbers a piece of evidence, with the record's lock held.
func (r *record) nextNumber() uint64 {
	r.last++
	if r.last%numberBlock == 0 { // the block is used up
		r.last = takeNumbers() + 1
	}
	return r.last
}

// counted reports whether this record of a slice's task gave the number, rather
// than a former one. It needs no lock. A nil record has counted nothing.
func (r *record) counted(number uint64) bool { return r != nil && number > r.base }
