//go:build rdmagate_off

package cc

const enabled = false
