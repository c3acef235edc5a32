package measure

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// allowed returns the cores that the process may run on.
func allowed() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("measure: cannot read the allowed cores: %w", err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// pin binds the calling thread to a core and asks for a better priority, so that
// fewer batches are disturbed. Without the right to have one, more are.
func pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("measure: cannot pin a thread to core %d: %w", cpu, err)
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
	return nil
}
