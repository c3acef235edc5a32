package softroce

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Backlog is what waits in the queue on the way to a NIC, and what that queue has
// dropped since it was put there.
type Backlog struct {
	Packets, Bytes, Drops int64
}

// Backlog reads the queue that a Rate or Delay has put on the way to the NIC. It is
// cheap enough to be asked a hundred times a second.
func (l *Lab) Backlog(nic NIC) (Backlog, error) {
	if err := l.check(nic); err != nil {
		return Backlog{}, err
	}
	index, err := interfaceIndex("/sys/class/net", nic.port)
	if err != nil {
		return Backlog{}, err
	}
	answer, err := askQdisc(index)
	if err != nil {
		return Backlog{}, fmt.Errorf("softroce: queue of %v: %w", nic, err)
	}
	b, err := readBacklog(answer)
	if err != nil {
		return Backlog{}, fmt.Errorf("softroce: queue of %v: %w", nic, err)
	}
	return b, nil
}

func interfaceIndex(sysfs, dev string) (int, error) {
	text, err := os.ReadFile(filepath.Join(sysfs, dev, "ifindex"))
	if err != nil {
		return 0, fmt.Errorf("softroce: index of interface %s: %w", dev, err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// Sizes and numbers of rtnetlink, from linux/rtnetlink.h and linux/gen_stats.h.
const (
	headerBytes   = 16 // struct nlmsghdr
	tcmsgBytes    = 20 // struct tcmsg
	attrStats2    = 7  // TCA_STATS2
	attrQueue     = 3  // TCA_STATS_QUEUE: qlen, backlog, drops, requeues, overlimits
	queueBytes    = 20
	messageError  = 2    // NLMSG_ERROR
	messageQdisc  = 0x24 // RTM_NEWQDISC
	attrKindMask  = 0x3fff
	attrAlignment = 4
)

// readBacklog finds the queue's numbers in an answer of the kernel.
func readBacklog(answer []byte) (Backlog, error) {
	order := binary.NativeEndian
	if len(answer) < headerBytes {
		return Backlog{}, fmt.Errorf("an answer of %d bytes", len(answer))
	}
	body := answer[headerBytes:min(len(answer), max(headerBytes, int(order.Uint32(answer))))]
	switch kind := order.Uint16(answer[4:]); {
	case kind == messageError && len(body) >= 4:
		return Backlog{}, fmt.Errorf("the kernel answers with error %d", -int32(order.Uint32(body)))
	case kind != messageQdisc || len(body) < tcmsgBytes:
		return Backlog{}, fmt.Errorf("a message of type %d and %d bytes", kind, len(body))
	}
	queue := attribute(attribute(body[tcmsgBytes:], attrStats2), attrQueue)
	if len(queue) < queueBytes {
		return Backlog{}, fmt.Errorf("no queue in an answer of %d bytes", len(answer))
	}
	return Backlog{
		Packets: int64(order.Uint32(queue)), Bytes: int64(order.Uint32(queue[4:])), Drops: int64(order.Uint32(queue[8:])),
	}, nil
}

// attribute returns the value of the first attribute of a kind, nil if there is none.
func attribute(list []byte, kind uint16) []byte {
	order := binary.NativeEndian
	for len(list) >= attrAlignment {
		length := int(order.Uint16(list))
		if length < attrAlignment || length > len(list) {
			return nil
		}
		if order.Uint16(list[2:])&attrKindMask == kind {
			return list[attrAlignment:length]
		}
		list = list[min(len(list), (length+attrAlignment-1)&^(attrAlignment-1)):]
	}
	return nil
}
