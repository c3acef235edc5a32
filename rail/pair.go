package rail

import (
	"cmp"
	"errors"
	"fmt"
)

// MaxName is the longest name a [Pair] may hold, in bytes.
const MaxName = 255

// Pair is the key of one path: local NIC and port to remote NIC of a peer.
//
// Names are opaque and compared whole; nothing is read into them, and no
// character is special. Pair is comparable and may be used as a map key. Two
// pairs are the same path only if all five fields are equal.
type Pair struct {
	// Peer names the remote machine. 1 to [MaxName] bytes.
	Peer string `json:"peer"`
	// Incarnation tells restarts of the peer apart; a new one starts with a
	// clean record. 0 to [MaxName] bytes.
	Incarnation string `json:"incarnation"`
	// Local names the local RDMA device, such as mlx5_0. 1 to [MaxName] bytes.
	Local string `json:"local"`
	// Port is the port of the local device, from 1.
	Port uint8 `json:"port"`
	// Remote names the peer's RDMA device. 1 to [MaxName] bytes.
	Remote string `json:"remote"`
}

// String returns the pair as a person would write it in a log. It is for reading
// only: different pairs may print alike when their names hold separators.
func (p Pair) String() string {
	peer := p.Peer
	if p.Incarnation != "" {
		peer += "#" + p.Incarnation
	}
	return fmt.Sprintf("%s:%d->%s/%s", p.Local, p.Port, peer, p.Remote)
}

// Validate reports every fault of the pair, joined into one error, or nil.
func (p Pair) Validate() error {
	return errors.Join(
		checkName("peer", p.Peer, 1),
		checkName("incarnation", p.Incarnation, 0),
		checkName("local device", p.Local, 1),
		checkName("remote device", p.Remote, 1),
		checkPort(p.Port),
	)
}

func checkName(what, name string, least int) error {
	switch {
	case len(name) < least:
		return fmt.Errorf("rail: %s name is empty; give the name the device or machine goes by", what)
	case len(name) > MaxName:
		return fmt.Errorf("rail: %s name %.16q... has %d bytes, at most %d are allowed; use a shorter name or a digest of it",
			what, name, len(name), MaxName)
	}
	return nil
}

func checkPort(port uint8) error {
	if port == 0 {
		return errors.New("rail: port is 0, ports count from 1; use 1 for a device with one port")
	}
	return nil
}

// Compare orders pairs by peer, incarnation, local device, port and remote device.
func (p Pair) Compare(q Pair) int {
	return cmp.Or(
		cmp.Compare(p.Peer, q.Peer),
		cmp.Compare(p.Incarnation, q.Incarnation),
		cmp.Compare(p.Local, q.Local),
		cmp.Compare(p.Port, q.Port),
		cmp.Compare(p.Remote, q.Remote),
	)
}
