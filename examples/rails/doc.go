// Rails prints the RDMA NICs of this machine, and which of them can be used; or the
// paths from them to the NICs of another machine, best first.
//
//	go run ./examples/rails         a table
//	go run ./examples/rails -gids   the addresses of each port as well
//	go run ./examples/rails -json   the same as JSON, all of it
//
// NICs that cannot be used are listed with the reason, and what could not be read
// is told. A machine without NICs is no error: the exit status is 0. It is 1 if
// NICs cannot be found at all, as on other systems than Linux.
//
// The paths need the other side's NICs, as this command prints them there:
//
//	rails -json > host-b.json       on host-b
//	rails -peer host-b.json         here: each local NIC with each of host-b
//
// Every pair has its rank, or is excluded, and the reason beside it. More flags go
// with -peer:
//
//	-prefix 24, -prefix6 64         NICs reach each other only within such an IPv4 or IPv6 prefix
//	-rails FILE                     a rail file pins the pairs
//	-local-node 0, -remote-node 1   the NUMA nodes of the buffers
//
// A rail file is JSON. Pairs under "direct", which are preferred, are under "all" too:
//
//	{"all": [{"local": "mlx5_0", "remote": "mlx5_3"}], "direct": [{"local": "mlx5_0", "remote": "mlx5_3"}]}
//
// The exit status is 1 if a file has faults, of which all are told, or if no pair can
// be used.
package main
