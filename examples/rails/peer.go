package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rdmagate/rdmagate/rail"
	"github.com/rdmagate/rdmagate/rail/discover"
)

// maxPeerFile is the largest file of a peer's NICs, in bytes. A NIC with a full GID
// table takes some 100 KiB.
const maxPeerFile = 16 << 20

// readPeer reads the NICs that this command printed as JSON on the peer.
func readPeer(name string) ([]discover.NIC, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err // names the file
	}
	defer f.Close()
	nics, err := parsePeer(f)
	if err != nil {
		return nil, fmt.Errorf("peer file %q: %w", name, err)
	}
	return nics, nil
}

func parsePeer(r io.Reader) ([]discover.NIC, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPeerFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxPeerFile:
		return nil, fmt.Errorf("it is larger than %d bytes; is it the right file?", maxPeerFile)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("it is empty; write it with \"rails -json\" on the peer")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return nil, errors.New("it is no list of NICs; write it with \"rails -json\" on the peer")
	}
	var nics []discover.NIC
	for d.More() {
		line := nextLine(data, d)
		var n discover.NIC
		if err := d.Decode(&n); err != nil {
			return nil, fmt.Errorf("NIC %d, from line %d: %w; write the file with the same version of \"rails -json\"", len(nics)+1, line, err)
		}
		nics = append(nics, n)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("line %d: the list does not end; write the file anew", nextLine(data, d))
	}
	line := nextLine(data, d)
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("line %d: there is more after the list; write the file anew", line)
	}
	if len(nics) == 0 {
		return nil, errors.New("it lists no NIC; run \"rails\" on the peer to see why")
	}
	return nics, nil
}

// nextLine returns the line on which the decoder goes on.
func nextLine(data []byte, d *json.Decoder) int {
	rest := data[d.InputOffset():]
	begins := len(data) - len(bytes.TrimLeft(rest, ", \t\r\n"))
	return 1 + bytes.Count(data[:begins], []byte("\n"))
}

// localNICs returns every port of this machine, as far as the choice of a path is
// concerned.
func localNICs(found []discover.NIC) []rail.NIC {
	var all []rail.NIC
	for _, n := range found {
		if len(n.Ports) == 0 {
			all = append(all, unusableNIC(n))
		}
		for _, p := range n.Ports {
			all = append(all, portNIC(n, p))
		}
	}
	return all
}

// remoteNICs returns the devices of a peer. A pair names no remote port, so each
// device stands there with one: the first that can be used. The notes tell of others
// that could be.
func remoteNICs(found []discover.NIC) (all []rail.NIC, notes []string) {
	for _, n := range found {
		var best *rail.NIC
		for _, p := range n.Ports {
			port := portNIC(n, p)
			switch {
			case best == nil || best.Unusable != "" && port.Unusable == "":
				best = &port
			case best.Unusable == "" && port.Unusable == "":
				notes = append(notes, fmt.Sprintf("port %d of remote %s is left out: a path names the remote device alone, and is taken for port %d", p.Number, nameText(n.Name), best.Port))
			}
		}
		if best == nil {
			none := unusableNIC(n)
			best = &none
		}
		all = append(all, *best)
	}
	return all, notes
}

// unusableNIC stands for a device without ports.
func unusableNIC(n discover.NIC) rail.NIC {
	why := n.Why
	if n.Usable || why == "" {
		why = "it has no port"
	}
	return rail.NIC{Name: n.Name, NUMA: rail.Node(n.NUMA), Unusable: why}
}

func portNIC(n discover.NIC, p discover.Port) rail.NIC {
	port := rail.NIC{Name: n.Name, Port: p.Number, NUMA: rail.Node(n.NUMA), Rate: p.Rate}
	switch p.LinkLayer {
	case discover.LinkInfiniBand:
		port.Link = rail.LinkInfiniBand
	case discover.LinkEthernet:
		port.Link = rail.LinkEthernet
	}
	for _, g := range p.GIDs {
		port.Addrs = append(port.Addrs, g.Addr)
	}
	switch {
	case !n.Usable && n.Why == "":
		port.Unusable = "it is not usable, and nothing says why"
	case !n.Usable:
		port.Unusable = n.Why
	case p.State != discover.PortActive:
		port.Unusable = fmt.Sprintf("port %d is not active but %v", p.Number, p.State)
	}
	return port
}
