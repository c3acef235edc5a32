package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/rdmagate/rdmagate/rail/discover"
	"github.com/rdmagate/rdmagate/verbs"
)

// installLibrary tells how to get libibverbs and the providers.
const installLibrary = "`apt-get install libibverbs1 ibverbs-providers`, or `dnf install libibverbs`, in the container too."

// whyProvider says what a provider is.
const whyProvider = "libibverbs reaches each kind of device through a provider, a library of its own. It does not list a device for which it has none."

// checkLibrary asks whether libibverbs can be loaded and knows the devices. Where it is
// not to be asked, the files have to tell.
func checkLibrary(h *host) []Finding {
	switch {
	case h.root == nil:
		return nil
	case h.openDevices == nil:
		return checkLibraryFiles(h)
	case h.openErr == nil:
		return checkOpened(h)
	case errors.Is(h.openErr, verbs.ErrNoLibrary):
		return []Finding{{
			Level: Fault, Seen: h.openErr.Error(),
			Why: "Verbs are calls into libibverbs; an engine loads it or does not start.",
			Fix: installLibrary,
		}}
	case errors.Is(h.openErr, syscall.ENOSYS):
		return []Finding{ok("", "it can be loaded; the kernel has no RDMA for it")}
	case errors.Is(h.openErr, errors.ErrUnsupported):
		return checkLibraryFiles(h)
	}
	return []Finding{{
		Level: Fault, Seen: h.openErr.Error(),
		Why: "Without the list of devices an engine has nothing to open.",
		Fix: "Run `ibv_devices` to see whether other programs have the same trouble.",
	}}
}

// checkOpened compares sysfs with what libibverbs listed and could open. It does not list
// a device whose node is absent; that is told by the nodes.
func checkOpened(h *host) []Finding {
	var all []Finding
	for _, n := range h.nics {
		where := printable(n.Name)
		switch d, listed := h.devices[n.Name]; {
		case n.Uverbs == "" || listed && d.err == nil || h.openNode("/dev/infiniband/"+n.Uverbs) != nil:
		case !listed:
			f := Finding{Level: Fault, Where: where, Seen: "libibverbs does not list the device, though sysfs shows it.", Why: whyProvider, Fix: installLibrary}
			if provider := providerOf(h, n); provider != "" {
				f.Seen += fmt.Sprintf(" Its provider is %s.", provider)
			}
			all = append(all, f)
		default:
			all = append(all, Finding{
				Level: Fault, Where: where, Seen: d.err.Error(),
				Why: "The first thing that an engine does failed here.",
				Fix: "Compare the versions of kernel and rdma-core; look for the device in `dmesg`.",
			})
		}
	}
	if len(all) == 0 {
		all = append(all, ok("", fmt.Sprintf("loaded, lists %s", count(len(h.devices), "device"))))
	}
	return all
}

// providers are the providers of devices, by the driver of the PCI function.
var providers = map[string]string{
	"be2net":     "ocrdma",
	"bnxt_en":    "bnxt_re",
	"cxgb4":      "cxgb4",
	"efa":        "efa",
	"erdma":      "erdma",
	"hfi1":       "hfi1verbs",
	"hns3":       "hns",
	"i40e":       "irdma",
	"ice":        "irdma",
	"mana":       "mana",
	"mlx4_core":  "mlx4",
	"mlx5_core":  "mlx5",
	"qede":       "qedr",
	"vmw_pvrdma": "vmw_pvrdma",
}

// providerOf returns the provider that a device needs; empty if that is not known.
func providerOf(h *host, n discover.NIC) string {
	dir := path.Join("class/infiniband", n.Name)
	if driver := uevent(h.sys, path.Join(dir, "device"), "DRIVER"); driver != "" {
		return providers[driver]
	}
	if exists(h.sys, path.Join(dir, "parent")) {
		return "rxe" // made of a network interface
	}
	return ""
}

// checkLibraryFiles looks for the library and the providers where they usually are.
func checkLibraryFiles(h *host) []Finding {
	dirs := libraryDirs(h.root)
	has := func(pattern string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool {
			found, _ := fs.Glob(h.root, path.Join(dir, pattern)) // the pattern is well formed
			return len(found) > 0
		})
	}
	if !has("libibverbs.so.1") {
		return []Finding{{
			Level: Warning, Seen: "libibverbs.so.1 is in none of the usual directories. It was not tried.",
			Why: "Verbs are calls into libibverbs; an engine loads it or does not start.",
			Fix: installLibrary,
		}}
	}
	var all []Finding
	for _, n := range h.nics {
		provider := providerOf(h, n)
		if provider == "" {
			continue
		}
		where := printable(n.Name)
		if !has("libibverbs/lib" + provider + "-rdmav*.so") {
			all = append(all, Finding{
				Level: Warning, Where: where,
				Seen: fmt.Sprintf("Its provider, libibverbs/lib%s-rdmav*.so, is in none of the usual directories.", provider),
				Why:  whyProvider, Fix: installLibrary,
			})
		} else if !configured(h.root, provider) {
			all = append(all, Finding{
				Level: Warning, Where: where,
				Seen: fmt.Sprintf("The provider %s is installed, but no file in /etc/libibverbs.d has the line \"driver %s\".", provider, provider),
				Why:  "libibverbs loads the providers that these files name.",
				Fix:  fmt.Sprintf("`echo driver %s > /etc/libibverbs.d/%s.driver`", provider, provider),
			})
		}
	}
	if len(all) == 0 {
		all = append(all, ok("", "its files are in place; it was not loaded"))
	}
	return all
}

// libraryDirs returns the directories in which libraries are installed.
func libraryDirs(root fs.FS) []string {
	dirs := []string{"usr/local/lib", "usr/local/lib64", "usr/lib", "usr/lib64", "lib", "lib64"}
	triplets, _ := fs.Glob(root, "usr/lib/*-linux-gnu*") // the pattern is well formed
	return append(dirs, triplets...)
}

// configured reports whether libibverbs is told to load a provider.
func configured(root fs.FS, provider string) bool {
	const dir = "etc/libibverbs.d"
	for _, name := range list(root, dir) {
		for line := range strings.Lines(read(root, path.Join(dir, name))) {
			if words := strings.Fields(line); len(words) >= 2 && words[0] == "driver" && words[1] == provider {
				return true
			}
		}
	}
	return false
}
