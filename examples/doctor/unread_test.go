package main

import "testing"

func TestUnread(t *testing.T) {
	runExamples(t, checkUnread, []example{
		{name: "all read"},
		{name: "two files", edit: func(t tree) {
			t.set(portFile("mlx5_1", "rate"), "fast")
			t.set(portFile("mlx5_1", "state"), "?")
		}, want: []string{"NOTE mlx5_1: \nport 1: rate: "}},
		{name: "told by the network devices", tree: "container"},
		{name: "told by the GIDs", edit: func(t tree) { t.drop(portFile("mlx5_1", "gids")) }},
	})
}
