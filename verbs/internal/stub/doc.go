// Package stub stands in for libibverbs in the tests of package verbs: an
// in-process provider, in C, whose functions take the place of the library's.
// For tests of an engine see package verbstest, which needs no C.
//
// It needs Linux and cgo, and is empty elsewhere.
package stub
