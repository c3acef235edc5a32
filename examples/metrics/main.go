package main

import (
	"context"
	"errors"
	"expvar"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/examples/metrics/collector"
	"github.com/rdmagate/rdmagate/examples/top/demo"
	"github.com/rdmagate/rdmagate/examples/top/live"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "metrics:", err)
		os.Exit(1)
	}
}

// run is main without the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	f := flag.NewFlagSet("metrics", flag.ContinueOnError)
	f.SetOutput(stderr)
	listen := f.String("listen", "127.0.0.1:9464", "`address` to serve at")
	routes := f.String("routes", "20", "routes that have series of their own: none, a `number` or all")
	if err := f.Parse(args); err != nil {
		return err
	}
	pick, err := parseRoutes(*routes)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	defer listener.Close()

	var recent live.Recent
	var seen collector.Transitions
	d, err := demo.Start(func(t cc.Transition) {
		recent.Add(t)
		seen.Add(t)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics(&collector.Collector{
		Controller: d.Controller, Routes: pick, Transitions: &seen, Admissions: d.Admissions, Pauses: d.Pauses,
	}))
	mux.Handle("/debug/vars", vars(d.Controller))
	mux.Handle("/", &live.Handler{Controller: d.Controller, Recent: &recent, Admissions: d.Admissions})

	at := "http://" + listener.Addr().String()
	fmt.Fprintf(stdout, "%s/metrics  %s/debug/vars  %s/\n", at, at, at)
	server := &http.Server{Handler: mux}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// parseRoutes reads the flag -routes.
func parseRoutes(text string) (collector.Pick, error) {
	switch text {
	case "none":
		return nil, nil
	case "all":
		return collector.All, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("-routes %q: give none, a number of at least 1, or all", text)
	}
	return collector.First(n, live.Compare), nil
}

// metrics serves a collector to Prometheus. An engine would register it where its other
// metrics are.
func metrics(c *collector.Collector) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// vars serves a controller as expvar does. In a program with one controller that is
// expvar.Publish("rdmagate", ctl) in one place, and expvar.Handler.
func vars(ctl *cc.Controller) http.Handler {
	all := new(expvar.Map).Init()
	all.Set("rdmagate", ctl)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintln(w, all)
	})
}
