package discover

import "fmt"

// maxFaults is how many problems of one device are told one by one. A GID table
// alone can have a thousand entries.
const maxFaults = 16

// faultList collects what was wrong with one device.
type faultList struct {
	told []string
	more int
}

func (l *faultList) add(format string, args ...any) {
	if len(l.told) == maxFaults {
		l.more++
		return
	}
	l.told = append(l.told, fmt.Sprintf(format, args...))
}

// texts returns the list, never nil.
func (l *faultList) texts() []string {
	all := append([]string{}, l.told...)
	if l.more > 0 {
		all = append(all, fmt.Sprintf("and %d more", l.more))
	}
	return all
}
