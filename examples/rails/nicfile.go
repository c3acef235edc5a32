package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rdmagate/rdmagate/rail"
)

// maxNICFile is the largest file of a host's NICs, in bytes. A port with a full GID
// table takes some 50 KiB.
const maxNICFile = 16 << 20

// readNICs reads the ports that this command printed as JSON on a host. The side is
// "local" or "peer".
func readNICs(side, name string) ([]rail.NIC, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err // names the file
	}
	defer f.Close()
	nics, err := parseNICs(f)
	if err != nil {
		return nil, fmt.Errorf("%s file %q: %w", side, name, err)
	}
	return nics, nil
}

func parseNICs(r io.Reader) ([]rail.NIC, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxNICFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxNICFile:
		return nil, fmt.Errorf("it is larger than %d bytes; is it the right file?", maxNICFile)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("it is empty; write it with \"rails -json\" on that host")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return nil, errors.New("it is no list of NICs; write it with \"rails -json\" on that host")
	}
	var nics []rail.NIC
	for d.More() {
		line := nextLine(data, d)
		var n rail.NIC
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
		return nil, errors.New("it lists no NIC; run \"rails\" on that host to see why")
	}
	return nics, nil
}

// writeNICs writes what readNICs reads.
func writeNICs(w io.Writer, nics []rail.NIC) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(nics)
}

// nextLine returns the line on which the decoder goes on.
func nextLine(data []byte, d *json.Decoder) int {
	rest := data[d.InputOffset():]
	begins := len(data) - len(bytes.TrimLeft(rest, ", \t\r\n"))
	return 1 + bytes.Count(data[:begins], []byte("\n"))
}
