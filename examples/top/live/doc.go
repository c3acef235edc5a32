// Package live shows a running controller over HTTP: as JSON, and as one web page that
// asks for nothing else. An engine takes it in with three lines:
//
//	var recent live.Recent // the latest transitions
//	ctl, err := cc.New(cfg, cc.WithTransitions(recent.Add))
//	...
//	err = http.Serve(listener, &live.Handler{Controller: ctl, Recent: &recent})
//
// The page is the handler's root. Beside it is state.json, a [State], which examples/top
// shows in a terminal. To have it below some path, as beside net/http/pprof:
//
//	http.Handle("/debug/rdmagate/", http.StripPrefix("/debug/rdmagate", handler))
//
// # Who may look
//
// Whoever can connect learns the names of machines and devices. Listen on a loopback
// address, or on a Unix socket, whose directory says who may connect:
//
//	listener, err := net.Listen("unix", "/run/engine/rdmagate.sock")
//
// # What it costs
//
// Nothing while nobody looks, but for the transitions, of which the latest are kept.
// Each look takes one [cc.Controller.Snapshot], which reads every route and stops none,
// and sends the routes that need attention most: 200 of them if nobody asks for others.
package live
