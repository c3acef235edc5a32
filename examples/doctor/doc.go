// Doctor looks at this machine as an RDMA engine would use it, and says what is wrong,
// why it matters and what to do about it.
//
//	go run ./examples/doctor                     this machine
//	go run ./examples/doctor -json > host-b.json the same for programs, and for -peer elsewhere
//	go run ./examples/doctor -peer host-b.json   this machine and the way to host-b
//	go run ./examples/doctor -sys DIR            a sysfs that is kept in a directory
//
// A finding looks like this:
//
//	WARNING  rate: mlx5_1 port 1
//	  seen   25 Gb/s; mlx5_0 port 1 is of the same type of card and runs at 100 Gb/s.
//	  why    A link that trained below its speed is a slow rail among fast ones: ...
//	  fix    Reseat or replace cable and transceiver; compare speed and FEC ...
//
// The worst come first: a FAULT keeps engines from working, a WARNING makes them slow
// or fragile, a NOTE is good to know or could not be seen from here, and what is well
// takes one line. The exit status is 0 if there is neither fault nor warning, 1 if
// there is, and 2 if the command line, or a file that it names, is wrong.
//
// # What the engine knows
//
// Files do not tell how an engine will use the machine. Flags do, and without them the
// checks that need them are left out, which the report says:
//
//	-retry 7 -timeout 14     the QPs' retry_cnt and timeout code
//	-rnr 6                   the QPs' rnr_retry
//	-fan-in 64               senders that may post to one receiver at once
//	-buffer 16777216         bytes of the switch port's buffer towards a receiver
//	-min-window 65536        the least window of a route, in bytes
//	-register 1073741824     bytes that the engine registers in all
//
// The controller's other settings are those of the environment, see cc.ConfigFromEnv.
//
// # The peer
//
// The file for -peer is what "doctor -json" wrote on the other host, whatever its exit
// status was. The list that "rails -json" of examples/rails writes serves as well, but
// holds no MTUs.
//
// # What is looked at
//
// Files under /sys, /proc, /dev/infiniband, /etc/libibverbs.d and the library
// directories; libibverbs is loaded, and each device is opened and closed again, which
// is what an engine does first. Nothing is changed and nothing is sent. With -sys only
// DIR is looked at, in place of /sys: a copy that came from another machine, or the
// host's /sys that a container has mounted elsewhere.
//
// Switches cannot be seen from a host. Whether they mark, pause or drop must be asked
// of them; the report says where that is so.
//
// # Where to find what
//
//	host.go                   what is looked at; hostfile.go reads it, hostverbs.go asks libibverbs
//	finding.go                findings and their order; text.go and document.go print them
//	checks.go                 the list of the checks
//	devices.go modules.go node.go library.go transport.go   can an engine use the devices?
//	port.go subnetmanager.go rate.go pcie.go                do the links run as they should?
//	netdev.go gid.go subnet.go sharedsubnet.go mtu.go       do the addresses and packet sizes fit?
//	peerfile.go reach.go peermtu.go                         do they fit to the peer's?
//	numa.go memlock.go flowcontrol.go                       the surroundings
//	settings.go retry.go windowfloor.go                     the engine's own numbers
//	unread.go                                               what could not be read
package main
