package cc

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// Words that different cores write, or read while another writes, are on different
// cache lines, wherever a route begins, and also when routes lie side by side.
func TestHotWordsAreApart(t *testing.T) {
	var r Route
	at := func(word unsafe.Pointer) int { return int(uintptr(word) - uintptr(unsafe.Pointer(&r))) }
	groups := []struct {
		name  string
		words []int
	}{
		{"posters write", []int{at(unsafe.Pointer(&r.limit)), at(unsafe.Pointer(&r.leasedAcquired)), at(unsafe.Pointer(&r.directAcquired)), at(unsafe.Pointer(&r.seenSettled))}},
		{"pollers write", []int{at(unsafe.Pointer(&r.leasedSettled)), at(unsafe.Pointer(&r.directSettled))}},
		{"both read", []int{at(unsafe.Pointer(&r.current)), at(unsafe.Pointer(&r.mode)), at(unsafe.Pointer(&r.longSample)), at(unsafe.Pointer(&r.health.watched)), at(unsafe.Pointer(&r.peer)), at(unsafe.Pointer(&r.seen))}},
	}
	size := int(unsafe.Sizeof(r))
	for i, g := range groups {
		for _, h := range groups[i+1:] {
			for _, a := range g.words {
				for _, b := range h.words {
					distance := max(a-b, b-a)
					assert.GreaterOrEqual(t, distance, cacheLine, "between a word that %s and one that %s", g.name, h.name)
					assert.GreaterOrEqual(t, size-distance, cacheLine, "the same of two neighbours")
				}
			}
		}
		// What one route's posters write is no concern of another's.
		for _, a := range g.words {
			for _, b := range g.words {
				assert.GreaterOrEqual(t, size-max(a-b, b-a), cacheLine, "between words of neighbours that %s", g.name)
			}
		}
	}
}
