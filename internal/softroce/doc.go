// Package softroce gives tests and the demonstration real verbs on a machine
// without RDMA hardware: it boots a small virtual machine with a stock Debian
// kernel, gives it RDMA devices made by rdma_rxe (Soft-RoCE), and runs one
// command of the host inside.
//
// The package has two halves.
//
// On the host, [Install] puts the needed Debian packages in place, [Prepare]
// builds the guest once per kernel version and caches it, and [Run] boots it
// and runs a command: its output arrives live, its exit status is the result.
// The guest sees the file system of the host, read-only below and with every
// write kept in memory above, so the binaries built on the host run unchanged.
// The guestexec command wraps this for go test:
//
//	go build -o /tmp/guestexec ./internal/softroce/cmd/guestexec
//	go test -tags guest -exec "/tmp/guestexec -nics 2" ./verbs
//
// In the guest, [Current] tells a program which RDMA devices exist and makes
// faults:
//
//	lab, err := softroce.Current()
//	if err != nil {
//		return err
//	}
//	defer lab.Heal()
//	undo, err := lab.Block(lab.A[0], lab.B[1]) // rxa0 no longer reaches rxb1
//	...
//	err = undo()
//
// The guest emulates two hosts, A and B, with the same number of NICs each;
// every NIC of A reaches every NIC of B and the other way round. Emulation in
// software is slow, so nothing timed in the guest says anything about hardware.
package softroce
