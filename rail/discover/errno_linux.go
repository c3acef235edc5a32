package discover

import "syscall"

// emptyErrnos are the errors that reading an empty entry of a GID table gives:
// EINVAL or EAGAIN, by kernel, and ENODEV for the network device of one that has
// just lost it.
var emptyErrnos = []error{syscall.EINVAL, syscall.EAGAIN, syscall.ENODEV}
