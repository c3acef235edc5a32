// Package atomic has the types of the standard package sync/atomic that package cc
// uses, for goroutines that take turns: each operation is a step.
package atomic

import (
	"sync/atomic"

	"github.com/rdmagate/rdmagate/internal/linear/turns"
)

// The types that are used.
type (
	Int32          = number[int32, atomic.Int32, *atomic.Int32]
	Int64          = number[int64, atomic.Int64, *atomic.Int64]
	Uint32         = number[uint32, atomic.Uint32, *atomic.Uint32]
	Uint64         = number[uint64, atomic.Uint64, *atomic.Uint64]
	Bool           = word[bool, atomic.Bool, *atomic.Bool]
	Pointer[T any] = word[*T, atomic.Pointer[T], *atomic.Pointer[T]]
)

// worder is what all types of sync/atomic have.
type worder[V, W any] interface {
	*W
	Load() V
	Store(V)
	Swap(V) V
	CompareAndSwap(old, new V) bool
}

// word is an atomic W that holds a V.
type word[V, W any, P worder[V, W]] struct{ w W }

func (w *word[V, W, P]) at() P {
	turns.Step()
	return &w.w
}

func (w *word[V, W, P]) Load() V                        { return w.at().Load() }
func (w *word[V, W, P]) Store(v V)                      { w.at().Store(v) }
func (w *word[V, W, P]) Swap(v V) V                     { return w.at().Swap(v) }
func (w *word[V, W, P]) CompareAndSwap(old, new V) bool { return w.at().CompareAndSwap(old, new) }

// numberer is what those that hold numbers have.
type numberer[V, W any] interface {
	worder[V, W]
	Add(V) V
	And(V) V
	Or(V) V
}

// number is a word with arithmetic.
type number[V, W any, P numberer[V, W]] struct{ word[V, W, P] }

func (n *number[V, W, P]) Add(v V) V { return n.at().Add(v) }
func (n *number[V, W, P]) And(v V) V { return n.at().And(v) }
func (n *number[V, W, P]) Or(v V) V  { return n.at().Or(v) }
