package rail

import "fmt"

// Devices returns the devices of a peer as [MapConfig].Remote wants them: of each, one
// of its ports, the first that can be used. The notes tell of others that could be. A
// port that is listed again stays, for [NewMap] to report.
func Devices(ports []NIC) (devices []NIC, notes []string) {
	type port struct {
		name   string
		number uint8
	}
	at, seen := map[string]int{}, map[port]bool{}
	for _, p := range ports {
		i, found := at[p.Name]
		if !found {
			at[p.Name] = len(devices)
		}
		key := port{p.Name, p.Port}
		again := seen[key]
		seen[key] = true
		if !found || again {
			devices = append(devices, p)
			continue
		}
		switch d := &devices[i]; {
		case p.Unusable != "":
		case d.Unusable != "":
			*d = p
		default:
			notes = append(notes, fmt.Sprintf("port %d of remote %.40q is left out: a path names the remote device alone, and is taken for port %d", p.Port, p.Name, d.Port))
		}
	}
	return devices, notes
}
