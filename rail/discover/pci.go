package discover

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pciAddress is domain:bus:device.function. Domains have more than four digits
// behind some host bridges.
var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// pci returns the address of the PCI function of a device, empty if it has none.
//
// The device's uevent file names it. For sub-functions, which hang on the
// auxiliary bus, it is the last address in the path that the device's class link
// leads to.
func (t tree) pci(dir string, faults *faultList) string {
	file := path.Join(dir, "device/uevent")
	data, err := t.read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		faults.add("PCI address: %v", err)
	}
	for line := range strings.Lines(string(data)) {
		address, found := strings.CutPrefix(strings.TrimSpace(line), ueventPCI)
		if !found {
			continue
		}
		if pciAddress.MatchString(address) {
			return address
		}
		faults.add("PCI address: %s: %.40q is none", file, address)
	}
	target, err := fs.ReadLink(t, dir)
	if err != nil {
		return "" // not a link, or a tree without links
	}
	for _, element := range slices.Backward(strings.Split(target, "/")) {
		if pciAddress.MatchString(element) {
			return element
		}
	}
	return ""
}
