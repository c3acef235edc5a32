// Package linear checks that admission in package cc is linearizable: whatever
// goroutines do at once, the outcome is one that they could have had one after the
// other. Its tests make many short histories of calls that overlap, and porcupine
// looks for such an order in each.
//
// # What is legal
//
// A device and each of its routes are domains: windows with bytes in flight.
//
//   - An admission takes its bytes in both domains at one moment. In each they fit the
//     window, or the domain is empty. A list of several slices always fits.
//   - A refusal names a domain that is full at some moment of the call. It may be wrong
//     while another acquisition, a renewal or a window that moves is under way; other
//     calls are no excuse. In histories whose clock moves, a slice that was refused
//     there before and might be larger than the window is one, since it may have
//     precedence.
//   - A settle, or whatever else gives bytes back, does so in the route and in the device
//     at two moments of the call, and slice by slice if a list was not successful.
//   - A number of bytes in flight is right if it is read while nothing else goes on.
//     At other times it may be off, since it is the sum of several words.
//   - At the end nothing is in flight, and everything fits.
//
// Where windows move, domains are looked at one by one: a slice may be admitted by a
// route whose window falls before the device has admitted it.
//
// Not in it are waiters, probes, health and the deadlines that retire generations.
//
// # Two ways to interleave
//
// TestAdmission lets goroutines loose on package cc as it is. TestAdmissionInTurns
// builds the tests again with package cc and its neighbours on the types of package
// turns, by way of go test's overlay. There a seed decides at each atomic operation
// who goes on, so that calls stop at the worst moments, and an illegal history comes
// again with its seed:
//
//	go test -run InTurns -scenario 'thin lease' -seed 4711 -histories 1
//
// For a long search, raise the number of histories:
//
//	go test -run InTurns -histories 50000 -timeout 1h
package linear
