module github.com/rdmagate/rdmagate

go 1.26.0

require (
	github.com/Mellanox/rdmamap v1.2.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/atomic v1.12.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/vishvananda/netlink v1.3.1 // indirect
	github.com/vishvananda/netns v0.0.5 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

tool golang.org/x/tools/cmd/stringer
