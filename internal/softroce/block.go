package softroce

import (
	"fmt"
	"strings"
)

// Block drops every packet that from sends to to, on the bridge's side of the
// link, where the sender does not notice: work requests on that pair end in
// RETRY_EXC_ERR, and all other pairs, and packets the other way, go on. Where
// from is the responder, its acknowledgements are lost: the requests of to
// take effect and still end in RETRY_EXC_ERR.
//
// rdma_rxe takes a retry count of 7 as no limit: use 0 to 6 to see the error.
func (l *Lab) Block(from, to NIC) (Undo, error) {
	return l.drop(from.port, "ingress", from, to)
}

// Unblock ends a Block of the pair. It is not an error if there is none.
func (l *Lab) Unblock(from, to NIC) error {
	return l.undrop(from.port, "ingress", from, to)
}

// BlockAll is Block of each pair, from the first NIC to the second, in one step, so that
// it is quick under load too.
func (l *Lab) BlockAll(pairs [][2]NIC) error {
	return l.batch(pairs, func(from, to NIC) string {
		return "filter replace dev " + from.port + " ingress protocol ip " + dropTo(to)
	})
}

// UnblockAll ends BlockAll of the same pairs, or of some of them. It is an error if one is
// not blocked.
func (l *Lab) UnblockAll(pairs [][2]NIC) error {
	return l.batch(pairs, func(from, to NIC) string {
		delete(l.drops, from.port+" ingress "+filterPref(to))
		return "filter del dev " + from.port + " ingress protocol ip pref " + filterPref(to)
	})
}

// batch runs a line for each pair in one go.
func (l *Lab) batch(pairs [][2]NIC, line func(from, to NIC) string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, p := range pairs {
		if err := l.checkPair(p[0], p[1]); err != nil {
			return err
		}
		lines = append(lines, line(p[0], p[1]))
	}
	if lines == nil {
		return nil
	}
	return runBatch("tc", lines)
}

// dropTo is the filter that drops what goes to a NIC.
func dropTo(to NIC) string {
	return "pref " + filterPref(to) + " handle 1 flower dst_ip " + to.Addr.String() + " action drop"
}

// BlackHole drops every packet that from sends to to on the sender's own end
// of the link. The sender is told of the failed transmission and tries again
// for ever: work requests on that pair hang, without completion or error.
func (l *Lab) BlackHole(from, to NIC) (Undo, error) {
	return l.drop(from.NetDev, "egress", from, to)
}

// ClearBlackHole ends a BlackHole of the pair. It is not an error if there is
// none.
func (l *Lab) ClearBlackHole(from, to NIC) error {
	return l.undrop(from.NetDev, "egress", from, to)
}

// drop sets a filter on an interface that drops what from sends to to. Each
// receiver has its own priority there, so that a filter can be found again. It stays
// until the last of the faults that need it is undone.
func (l *Lab) drop(dev, direction string, from, to NIC) (Undo, error) {
	if err := l.checkPair(from, to); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	args := append([]string{"filter", "replace", "dev", dev, direction, "protocol", "ip"}, strings.Fields(dropTo(to))...)
	if _, err := runTool("tc", args...); err != nil {
		return nil, err
	}
	where := dev + " " + direction + " " + filterPref(to)
	l.drops[where]++
	return once(func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.drops[where]--; l.drops[where] > 0 {
			return nil
		}
		return l.removeFilter(dev, direction, to)
	}), nil
}

// undrop removes the filter at once, whoever needs it.
func (l *Lab) undrop(dev, direction string, from, to NIC) error {
	if err := l.checkPair(from, to); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.removeFilter(dev, direction, to)
}

// removeFilter removes a filter if there is one. The caller holds the lock.
func (l *Lab) removeFilter(dev, direction string, to NIC) error {
	delete(l.drops, dev+" "+direction+" "+filterPref(to))
	present, err := runTool("tc", "filter", "show", "dev", dev, direction, "pref", filterPref(to))
	if err != nil || !strings.Contains(present, "flower") {
		return err
	}
	_, err = runTool("tc", "filter", "del", "dev", dev, direction, "protocol", "ip", "pref", filterPref(to))
	return err
}

func (l *Lab) checkPair(from, to NIC) error {
	if err := l.check(from, to); err != nil {
		return err
	}
	if from.Device == to.Device {
		return fmt.Errorf("softroce: pair of %v with itself: give two NICs", from)
	}
	return nil
}

// filterPref is the priority of the filters for a receiver.
func filterPref(to NIC) string { return fmt.Sprint(1 + to.ordinal()) }
