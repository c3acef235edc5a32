package discover

import "fmt"

// NICs returns the RDMA NICs of this machine, as far as this process's namespaces
// show them, sorted by name. Without any, the list is empty and there is no error.
//
// Beyond [Read] of /sys it finds out whether the process may open each NIC's
// character device, and asks the rdmamap package for interfaces of IP over
// InfiniBand. An error means that the list of devices could not be read, or not to
// its end; those read are returned with it. NICs opens no device.
func NICs() ([]NIC, error) {
	nics, err := Read(openSysfs(sysfsRoot))
	if err != nil {
		err = fmt.Errorf("%s: %w", sysfsRoot, err)
	}
	thisHost.complete(nics)
	return nics, err
}
