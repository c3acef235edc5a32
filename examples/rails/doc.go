// Rails prints the RDMA NICs of this machine, and which of them can be used.
//
//	go run ./examples/rails         a table
//	go run ./examples/rails -gids   the addresses of each port as well
//	go run ./examples/rails -json   the same as JSON, all of it
//
// NICs that cannot be used are listed with the reason, and what could not be read
// is told. A machine without NICs is no error: the exit status is 0. It is 1 if
// NICs cannot be found at all, as on other systems than Linux.
package main
