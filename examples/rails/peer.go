package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

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
