// Package labverbs connects queue pairs over the Soft-RoCE NICs of a guest and
// makes each fault that Soft-RoCE can show, for tests that run there.
//
//	lab, err := softroce.Current()
//	pair, err := labverbs.Connect(lab.A[0], lab.B[1], labverbs.Config{})
//	defer pair.Close()
//	for _, fault := range labverbs.Faults() {
//		wcs, err := fault.Provoke(lab, pair, 4)
//		...                      // wcs[0] has fault.Root, the others are flushed
//		err = pair.Reconnect()
//	}
//
// A test that puts something between post and completion takes a fault apart
// instead: Prepare, Requests, its own posts, [Collect], and the undo.
package labverbs
