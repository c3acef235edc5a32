package live

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/rdmagate/rdmagate/cc"
)

// Controller is what is looked at; a [cc.Controller] is one.
type Controller interface {
	Snapshot() cc.Snapshot
	Now() time.Duration
}

// Handler serves the page and what it shows. Set the fields before the first request.
type Handler struct {
	Controller Controller
	// Recent has the transitions to show; nil shows none.
	Recent *Recent
	// Admissions returns how many slices were admitted, ever; nil shows no rate of them.
	// The controller counts what it refuses, not what it admits, which would cost every
	// slice something: an engine that counts them may say.
	Admissions func() uint64
}

// What a request for the state gets if it does not say, and at most.
const (
	defaultRoutes      = 200
	defaultTransitions = 50
	maxAsked           = 10_000
)

//go:embed page.html
var page []byte

// policy lets the page do what it does, and nothing else: names come from elsewhere.
const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers / with the page and /state.json with a [State]. The latter takes
// routes=N and transitions=N, how many of them to send at most, 0 to 10,000.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch r.URL.Path {
	case "", "/":
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page)
	case "/state.json":
		h.serveState(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (h *Handler) serveState(w http.ResponseWriter, r *http.Request) {
	routes, err := asked(r, "routes", defaultRoutes)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	transitions, err := asked(r, "transitions", defaultTransitions)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(h.State(routes, transitions)) // who has gone needs no error
}

// asked returns a number of the request's query.
func asked(r *http.Request, name string, otherwise int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxAsked {
		return 0, fmt.Errorf("%s=%q: must be a number, 0 to %d", name, text, maxAsked)
	}
	return n, nil
}
