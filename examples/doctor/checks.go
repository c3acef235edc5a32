package main

// check is one question to a host. It returns nothing if it does not apply there.
type check struct {
	name string
	run  func(*host) []Finding
}

// checks are in the order in which an engine would meet the trouble.
var checks = []check{
	{"devices", checkDevices},
	{"modules", checkModules},
	{"device-node", checkNodes},
	{"libibverbs", checkLibrary},
	{"transport", checkTransport},
	{"port", checkPorts},
	{"subnet-manager", checkSubnetManager},
	{"rate", checkRates},
	{"pcie", checkPCIe},
	{"net-device", checkNetDevs},
	{"gid", checkGIDs},
	{"shared-subnet", checkSharedSubnets},
	{"mtu", checkMTU},
	{"reach", checkReach},
	{"peer-mtu", checkPeerMTU},
	{"numa", checkNUMA},
	{"memlock", checkMemlock},
	{"flow-control", checkFlowControl},
	{"settings", checkSettings},
	{"retry", checkRetry},
	{"window-floor", checkWindowFloor},
	{"unread", checkUnread},
}

// examine runs all checks. The worst findings come first.
func examine(h *host) []Finding {
	var all []Finding
	for _, c := range checks {
		for _, f := range c.run(h) {
			f.Check = c.name
			all = append(all, f)
		}
	}
	sortFindings(all)
	return all
}
