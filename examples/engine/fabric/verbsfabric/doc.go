// Package verbsfabric is the engine's fabric over real RDMA devices, by package
// verbs.
//
// One NIC is one device with its first active port. Programs build everywhere;
// where there is no libibverbs or no RDMA, [Open] returns an error that wraps
// [errors.ErrUnsupported].
package verbsfabric
