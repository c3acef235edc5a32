//go:build !linux

package verbs

func mapMemory(int) ([]byte, error) { return nil, unsupported("mmap") }

func unmapMemory([]byte) error { return nil }

func lockedLimit() string { return "RLIMIT_MEMLOCK" }

func pollable(int, bool) (dup int, restore func(), err error) { return -1, nil, unsupported("dup") }
