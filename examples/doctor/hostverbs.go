package main

import "github.com/rdmagate/rdmagate/verbs"

// openDevices opens every device that libibverbs lists, asks for its ports and closes
// it again.
func openDevices() (map[string]opened, error) {
	list, err := verbs.Devices()
	if err != nil {
		return nil, err
	}
	all := map[string]opened{}
	for _, d := range list {
		mtu, err := activeMTUs(d)
		all[d.Name] = opened{err, mtu}
	}
	return all, nil
}

func activeMTUs(d verbs.Device) (map[uint8]int, error) {
	ctx, err := d.Open()
	if err != nil {
		return nil, err
	}
	defer ctx.Close() // nothing hangs on it
	attr, err := ctx.Query()
	if err != nil {
		return nil, err
	}
	mtu := map[uint8]int{}
	for number := 1; number <= int(attr.Ports); number++ {
		p, err := ctx.QueryPort(uint8(number))
		if err != nil {
			return mtu, err
		}
		mtu[uint8(number)] = p.ActiveMTU.Bytes()
	}
	return mtu, nil
}
