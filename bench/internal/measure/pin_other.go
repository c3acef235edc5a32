//go:build !linux

package measure

import "runtime"

// allowed returns a number for each core. Where threads cannot be pinned, workers
// run wherever the system puts them.
func allowed() ([]int, error) {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus, nil
}

func pin(int) error { return nil }
