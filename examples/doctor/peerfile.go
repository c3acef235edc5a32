package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxPeerFile is the largest file of a peer, in bytes. A port with a full GID table
// takes some 50 KiB.
const maxPeerFile = 16 << 20

// readPeer reads the ports of a peer from a file that "doctor -json" or "rails -json"
// wrote there.
func readPeer(name string) ([]portFacts, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err // names the file
	}
	defer f.Close()
	ports, err := parsePeer(f)
	if err != nil {
		return nil, fmt.Errorf("%q: %w; write it with \"doctor -json\" on that host", name, err)
	}
	return ports, nil
}

func parsePeer(r io.Reader) ([]portFacts, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPeerFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxPeerFile:
		return nil, fmt.Errorf("it is larger than %d bytes", maxPeerFile)
	}
	if data = bytes.TrimSpace(data); len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	var ports []portFacts
	if data[0] == '[' { // of "rails -json"
		err = strict(data, &ports)
	} else {
		var d document
		err = strict(data, &d)
		ports = d.Ports
	}
	switch {
	case err != nil:
		return nil, err
	case ports == nil:
		return nil, errors.New("it holds no list of ports")
	}
	return ports, nil
}

// strict takes the data for one value without unknown fields.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more after its end")
	}
	return nil
}
