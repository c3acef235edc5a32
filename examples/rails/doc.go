// Rails prints the RDMA NICs of this machine, and which of them can be used; or the
// paths from them to the NICs of another machine, best first.
//
//	go run ./examples/rails         a table
//	go run ./examples/rails -gids   the addresses of each port as well
//	go run ./examples/rails -json   as JSON, what other machines need to know of each port
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
// The file is a list of rail.NIC, the form in which engines send their NICs to each
// other too. Every pair has its rank, or is excluded, and the reason beside it. More
// flags go with -peer:
//
//	-local FILE                     take the local NICs from such a file too
//	-prefix 24, -prefix6 64         NICs reach each other only within such an IPv4 or IPv6 prefix
//	-rails FILE                     a rail file pins the pairs
//	-local-node 0, -remote-node 1   the NUMA nodes of the buffers
//
// A rail file is JSON. Pairs under "direct", which are preferred, are under "all" too:
//
//	{"all": [{"local": "mlx5_0", "remote": "mlx5_3"}], "direct": [{"local": "mlx5_0", "remote": "mlx5_3"}]}
//
// With -local nothing of this machine is looked at, so the paths between any two hosts
// can be seen at a desk, also before the hosts are there. From the root of the source:
//
//	go run ./examples/rails -local examples/rails/testdata/host-a.json -peer examples/rails/testdata/host-b.json -prefix 16
//
// The exit status is 1 if a file has faults, of which all are told, or if no pair can
// be used.
package main
