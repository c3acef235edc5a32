// Package api keeps the exported API of the public packages, one file for each in
// exported, so that it changes only on purpose and a change is seen in review.
//
// The test of this package compares those files with the source. It fails on a
// difference, on an exported name without a comment, on a comment that says no more than
// the name, and on a doc link that leads nowhere. It also fails where the API depends on
// the system, on cgo or on a build tag.
//
// To accept a change, write the files anew and commit them with it:
//
//	make generate
//
// What a change means for those who use the library is in the README, under
// compatibility.
package api

//go:generate go test -run=^TestExported$ -update .
