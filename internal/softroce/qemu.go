package softroce

import (
	"fmt"
	"path/filepath"
)

// qemuArgs returns the arguments of the emulator. Files of this run live in
// dir: the log of the guest's console and the socket of the agent's port.
//
// The accelerator is always TCG: where KVM exists but does not work, QEMU spins
// without a word. A processor that stands still in the kernel for twice the watchdog's
// threshold is a panic, which ends the guest at once: rdma_rxe does that now and then.
func qemuArgs(c Config, image Image, dir string) []string {
	args := []string{
		"-accel", "tcg,thread=multi",
		"-cpu", "max",
		"-m", fmt.Sprint(c.MemoryMiB),
		"-smp", fmt.Sprint(c.CPUs),
		"-nodefaults",
		"-display", "none",
		"-no-reboot",
		"-kernel", image.Kernel,
		"-initrd", image.Initramfs,
		"-append", fmt.Sprintf("console=ttyS0 quiet panic=-1 softlockup_panic=1 watchdog_thresh=30 %s%d -- %q -agent", nicsParameter, c.NICs, c.Agent),
		"-chardev", "file,id=console,path=" + filepath.Join(dir, consoleFile),
		"-serial", "chardev:console",
		"-device", "virtio-serial-pci",
		"-chardev", "socket,id=agent,path=" + filepath.Join(dir, socketFile),
		"-device", "virtserialport,chardev=agent,name=" + portName,
		"-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
	}
	if c.Share != "" {
		args = append(args, "-virtfs", "local,path="+c.Share+",mount_tag=share,security_model=none,multidevs=remap")
	}
	return args
}

const (
	consoleFile = "console.log"
	socketFile  = "agent.sock"
)
