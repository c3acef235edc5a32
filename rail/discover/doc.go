// Package discover finds the RDMA NICs of a machine and says which of them can be
// used, and why the others cannot.
//
//	nics, err := discover.NICs() // this machine
//	if err != nil {
//		log.Print(err) // what could be read is in nics all the same
//	}
//	for _, nic := range nics {
//		if !nic.Usable {
//			log.Printf("%s is left out: %s", nic.Name, nic.Why)
//			continue
//		}
//		use(nic.Name, nic.NUMA, nic.Ports)
//	}
//
// A [NIC] is a plain value, a reading of one moment: nothing is held open and
// nothing is kept up to date. It can be written as JSON and read back. What a peer
// needs to know to choose paths is less: the ports that [Local] makes of it.
//
// # What is read
//
// [Read] takes the sysfs tree as an [io/fs.FS], so it works on a copy of another
// machine's /sys and on trees made by tests. [NICs] reads /sys and adds what a
// tree of files cannot tell: whether the process may use the character device, and
// which IP over InfiniBand interfaces belong to which NIC.
//
// # Bad entries
//
// A file that is missing, unreadable, empty, binary or too long costs the value it
// would have given and nothing else; the NIC's Problems say which file and what
// was wrong. What is unknown is unknown: it never turns into a plausible number.
// Names are opaque. They are compared whole, and no kind of NIC is guessed from
// one.
//
// # Containers and namespaces
//
// Sysfs often shows more than a container may use. [NICs] then reports the NIC as
// not usable because its node under /dev/infiniband is absent or closed to the
// process, and a GID's network device that is not in the own network namespace is
// one of the NIC's Problems.
//
// # Systems
//
// NICs works on Linux. Elsewhere it returns an error that wraps
// [errors.ErrUnsupported]. Read works everywhere.
//
// All functions are safe for concurrent use.
package discover
