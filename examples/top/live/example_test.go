package live_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/top/live"
)

// The whole of it: a hook for the transitions, and a handler.
func Example() {
	var recent live.Recent
	cfg := cc.DefaultConfig()
	cfg.Mode = cc.Enforce
	ctl, err := cc.New(cfg, cc.WithTransitions(recent.Add))
	if err != nil {
		log.Fatal(err)
	}
	defer ctl.Close()
	handler := &live.Handler{Controller: ctl, Recent: &recent}

	// On a listener of your own; here one for a test.
	server := httptest.NewServer(handler)
	defer server.Close()
	resp, err := http.Get(server.URL + "/state.json")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ",") // behind now_ns
	fmt.Println(rest)
	// Output:
	// "mode":"enforce","devices":[],"routes":[],"routes_by_state":{},"transitions":[],"transitions_told":0}
}
