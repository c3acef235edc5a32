package rail_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/rdmagate/rdmagate/rail"
)

// A rail file says which pairs may be used, and which of them come first.
func ExampleParseFile() {
	file, err := rail.ParseFile(strings.NewReader(`{
  "all": [
    {"local": "mlx5_0", "remote": "mlx5_1"},
    {"local": "mlx5_1", "remote": "mlx5_0"},
    {"local": "mlx5_0", "remote": "mlx5_0"}
  ],
  "direct": [{"local": "mlx5_0", "remote": "mlx5_1"}]
}`))
	if err != nil {
		log.Fatal(err)
	}
	local, remote := machines()
	if err := file.Check(local, remote); err != nil { // a name that nobody has
		log.Fatal(err)
	}
	m, err := rail.NewMap(rail.MapConfig{Peer: "host-b", Local: local, Remote: remote, File: file})
	if err != nil {
		log.Fatal(err)
	}
	list, _ := m.Select(nil, rail.Want{})
	for _, c := range list {
		fmt.Println(c.Pair, c.Match)
	}
	// Output:
	// mlx5_0:1->host-b/mlx5_1 direct in the rail file
	// mlx5_0:1->host-b/mlx5_0 cross-rail
	// mlx5_1:1->host-b/mlx5_0 cross-rail
}

// Every fault is told, with its line and pair.
func ExampleParseFile_faults() {
	_, err := rail.ParseFile(strings.NewReader(`{
  "all": [
    {"local": "mlx5_0", "remote": "mlx5_0"},
    {"local": "mlx5_0", "remote": "mlx5_0"},
    {"local": "mlx5_1", "remtoe": "mlx5_1"}
  ]
}`))
	fmt.Println(err)
	// Output:
	// rail file: line 4: all[1]: "mlx5_0" to "mlx5_0" repeats all[0] of line 3; list it once
	// rail file: line 5: all[2]: field "remtoe" is unknown; did you mean "remote"?
	// rail file: line 5: all[2]: "remote" is missing
}
