// Engine moves bytes between machines over RDMA, under the admission of rdmagate.
// It is the reference for how a transfer engine takes the library in: small, whole,
// and without any logic of its own about when a path may be used.
//
//	go run ./examples/engine demo -fabric sim        # needs nothing but Go
//	go run ./examples/engine demo                    # real verbs where there are any
//
//	go run ./examples/engine serve -nics mlx5_0,mlx5_1 -listen :7471
//	go run ./examples/engine put -nics mlx5_2,mlx5_3 -server host:7471 -file weights.bin -object weights
//	go run ./examples/engine get -nics mlx5_2,mlx5_3 -server host:7471 -object weights -file copy.bin
//
// Which pairs of NICs put and get use is told by -rails, a file that lists them (see
// rail.File), or by -prefix, the bits of an address within which NICs reach each other.
// Without both, all pairs are tried.
//
// With -record demo, put and get write a recording of all that the controller is asked and
// answers, which examples/replay reads: why was this pair avoided, and what would another
// configuration have done? -record-serial lets one call run at a time, so that a replay
// is exact.
//
// Every command exits with status 0 only if all bytes arrived, compared by
// checksum, and every permit came back. Status 1 is a failure, 2 a mistake in the
// command line.
//
// # The demonstration
//
// demo runs both sides in one process. Its first line says on which fabric: the
// machine's own RDMA devices where it has any; otherwise Soft-RoCE in a small guest,
// in which this same binary is run; otherwise a fabric simulated in the process. A
// table shows each route: its health, its window, the bytes in flight, what it delivers
// while busy, and how long the bytes in flight take (drain time); "first" marks the
// routes that slices are offered to first. On the way one NIC pair is blocked and later
// unblocked: it is quarantined after a few timeouts, probed now and then, and in use
// again once a probe succeeds. Into real hardware no fault is
// injected. The detailed state of the task is printed for each transfer that fails or
// is slow. A summary ends it, with what became of the pair.
//
// The simulated fabric is made of packets: two hosts with two NICs each at 500 Mbit/s
// around a switch that pauses whoever sends too much (internal/livefabric and
// internal/fabric). Two flags give the windows more to do:
//
//	engine demo -fabric sim -incast 4                # others write to the peer's first NIC, 3 s of every 6 s
//	engine demo -fabric sim -incast 4 -buffer 128K   # and a switch with little room drops what does not fit
//
// With the first the windows towards that NIC shrink and grow again; a smaller
// -target-drain, such as 8ms, shows it best. With the second its routes time out: packets
// lost for want of buffer look like a dead pair.
//
// # Where to find what
//
//	transfer/         the engine as a library: workers, slices, endpoints
//	fabric/           the small interface between engine and verbs
//	fabric/verbsfabric  that interface over package verbs
//	stage.go          which fabric a demonstration gets
//	guest.go          how the program runs itself in the guest
//	options.go railoptions.go  the flags that the commands share
//	simoptions.go     those of the simulated fabric
//	record.go         the recording of a run
//	datapath.svg      the path of a slice, in the README
//	fault.go          the faults of each fabric
//	faultplan.go      when the pair is blocked, and what became of it
//	demo.go           the demonstration; table.go, results.go, history.go, summary.go show it
//	serve.go put.go get.go client.go   the commands for two processes
//
// The integration itself is told step by step in the documentation of package
// transfer.
package main
