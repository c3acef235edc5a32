//go:build !linux

package discover

// emptyErrnos is empty: there is no live sysfs here.
var emptyErrnos []error
