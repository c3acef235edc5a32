package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rdmagate/rdmagate/examples/top/live"
)

// source is an engine that is asked for its state.
type source struct {
	name   string // for people
	base   *url.URL
	client *http.Client
}

// patience is how long an answer may take, and maxAnswer how long it may be, in bytes.
const (
	patience  = 5 * time.Second
	maxAnswer = 64 << 20
)

// newSource reads an address: HOST:PORT, a URL, or the path of a Unix socket.
func newSource(addr string) (*source, error) {
	s := &source{name: addr, client: &http.Client{Timeout: patience}}
	base := addr
	switch {
	case strings.Contains(addr, "://"):
	case strings.Contains(addr, "/"):
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", addr)
		}
		s.client.Transport = &http.Transport{DialContext: dial}
		base = "http://localhost"
	default:
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return nil, fmt.Errorf("%w: -addr: %w; give HOST:PORT, the path of a Unix socket (./NAME if it is here) or a URL", errUsage, err)
		}
		base = "http://" + addr
	}
	var err error
	if s.base, err = url.Parse(base); err != nil {
		return nil, fmt.Errorf("%w: -addr: %w", errUsage, err)
	}
	if s.base.Scheme != "http" && s.base.Scheme != "https" {
		return nil, fmt.Errorf("%w: -addr %s: only http and https are spoken", errUsage, addr)
	}
	return s, nil
}

// state asks for a state with up to so many routes and transitions.
func (s *source) state(ctx context.Context, routes, transitions int) (state live.State, err error) {
	u := s.base.JoinPath("state.json")
	u.RawQuery = fmt.Sprintf("routes=%d&transitions=%d", routes, transitions)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return state, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return state, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return state, fmt.Errorf("%s answers %s; is live.Handler served there?", u.Redacted(), resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&state); err != nil {
		return state, fmt.Errorf("%s: %w; is live.Handler served there, of this version?", u.Redacted(), err)
	}
	return state, nil
}
