package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"

	"github.com/rdmagate/rdmagate/examples/engine/fabric"
)

// Server is the side that is read and written: it lends memory and the remote
// halves of endpoints, and posts nothing, so it needs no controller. Make one with
// [NewServer]. It is safe for concurrent use.
type Server struct {
	host  fabric.Host
	nics  []fabric.NIC
	qp    fabric.QPConfig
	log   *slog.Logger
	info  hello       // without NICs
	cqs   []fabric.CQ // by index of the NIC; nothing ever completes there
	store store
	// scratch is what probers read.
	scratch *Buffer

	mu       sync.Mutex
	closed   bool
	sessions map[*session]struct{}
	serving  sync.WaitGroup
}

// ServerConfig holds what a server is made with.
type ServerConfig struct {
	// Name is what peers call this machine.
	Name string
	// MaxBytes bounds the memory of all objects together. At least 1.
	MaxBytes int64
	// AckTimeout, Retry and RNRRetry are as in [Config].
	AckTimeout, Retry, RNRRetry uint8
	// Log receives news about sessions; nil is silent.
	Log *slog.Logger
}

// DefaultServerConfig returns the defaults: up to 4 GiB of objects.
func DefaultServerConfig() ServerConfig {
	c := DefaultConfig()
	return ServerConfig{Name: "server", MaxBytes: 4 << 30, AckTimeout: c.AckTimeout, Retry: c.Retry, RNRRetry: c.RNRRetry}
}

// NewServer returns a server on all NICs of a host, which stays the caller's.
func NewServer(host fabric.Host, cfg ServerConfig) (*Server, error) {
	if cfg.Name == "" || cfg.MaxBytes < 1 {
		return nil, fmt.Errorf("transfer: server name %q, MaxBytes %d: give a name and at least 1 byte; start from DefaultServerConfig", cfg.Name, cfg.MaxBytes)
	}
	s := &Server{
		host: host, nics: host.NICs(), log: cfg.Log,
		qp: fabric.QPConfig{
			SendDepth: 1, RecvDepth: 1,
			Timeout: cfg.AckTimeout, Retry: cfg.Retry, RNRRetry: cfg.RNRRetry,
		},
		info:     hello{Name: cfg.Name, Incarnation: incarnation()},
		store:    store{host: host, nics: host.NICs(), room: cfg.MaxBytes, objects: map[string]*stored{}},
		sessions: map[*session]struct{}{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if len(s.nics) == 0 {
		return nil, fmt.Errorf("transfer: %s has no usable NIC; bring a port up, or use another fabric", host.Name())
	}
	for _, nic := range s.nics {
		cq, err := nic.NewCQ(16)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("transfer: CQ of %s: %w", nic.Name(), err), s.closeCQs())
		}
		s.cqs = append(s.cqs, cq)
	}
	var err error
	if s.scratch, err = NewBuffer(host, s.nics, probeBytes); err != nil {
		return nil, errors.Join(err, s.closeCQs())
	}
	s.info.Scratch = s.scratch.keys(s.nics)
	return s, nil
}

// hello introduces the server to a peer.
func (s *Server) hello() hello {
	h := s.info
	h.NICs = describe(s.nics)
	return h
}

func (s *Server) closeCQs() error {
	var faults []error
	for _, cq := range s.cqs {
		faults = append(faults, cq.Close())
	}
	s.cqs = nil
	return errors.Join(faults...)
}

// Listen serves the connections of a listener, until it or the server is closed.
func (s *Server) Listen(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("transfer: accepting a control connection: %w", err)
		}
		go s.Serve(conn)
	}
}

// Serve answers one control connection until it ends, then takes back what it
// lent: QPs, and objects that were not sealed.
func (s *Server) Serve(conn net.Conn) {
	defer conn.Close()
	ss := &session{server: s, conn: conn, endpoints: map[uint64][]fabric.QP{}}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.sessions[ss] = struct{}{}
	s.serving.Add(1)
	s.mu.Unlock()

	ss.run()

	s.mu.Lock()
	delete(s.sessions, ss)
	s.mu.Unlock()
	s.serving.Done()
}

// Close ends every session and frees all objects. A second Close does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for ss := range s.sessions {
		ss.conn.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.store.clear(), s.scratch.Close(), s.closeCQs())
}

// session is one control connection. Its requests are answered one by one.
type session struct {
	server    *Server
	conn      net.Conn
	peer      hello
	last      uint64
	endpoints map[uint64][]fabric.QP
}

func (ss *session) run() {
	log := ss.server.log
	lines := newLines(ss.conn)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			log.Warn("control connection: no JSON", "peer", ss.peer.Name, "error", err)
			break
		}
		if err := writeLine(ss.conn, ss.answer(r)); err != nil {
			log.Warn("control connection: answering", "peer", ss.peer.Name, "error", err)
			break
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, net.ErrClosed) {
		log.Warn("control connection", "peer", ss.peer.Name, "error", err)
	}
	if err := ss.cleanUp(); err != nil {
		log.Error("taking back what a session had", "peer", ss.peer.Name, "error", err)
	}
	log.Info("session ended", "peer", ss.peer.Name)
}

func (ss *session) answer(r request) response {
	body, err := ss.dispatch(r)
	if err != nil {
		return response{ID: r.ID, Error: err.Error(), Unreachable: errors.Is(err, syscall.ENETDOWN)}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return response{ID: r.ID, Error: err.Error()}
	}
	return response{ID: r.ID, Body: raw}
}

func (ss *session) dispatch(r request) (any, error) {
	switch r.Op {
	case opHello:
		return handle(r, ss.hello)
	case opConnect:
		return handle(r, ss.connect)
	case opDisconnect:
		return handle(r, ss.disconnect)
	case opCreate:
		return handle(r, ss.create)
	case opOpen:
		return handle(r, ss.open)
	case opSeal:
		return handle(r, ss.seal)
	case opDelete:
		return handle(r, ss.delete)
	case opChecksums:
		return handle(r, ss.checksums)
	}
	return nil, fmt.Errorf("operation %q is unknown", r.Op)
}

// handle decodes a request's body for the function that answers it.
func handle[Ask, Reply any](r request, f func(Ask) (Reply, error)) (any, error) {
	var ask Ask
	if err := json.Unmarshal(r.Body, &ask); err != nil {
		return nil, fmt.Errorf("body of %s: %w", r.Op, err)
	}
	return f(ask)
}

type nothing struct{}

func (ss *session) hello(h hello) (hello, error) {
	ss.peer = h
	ss.server.log.Info("session", "peer", h.Name, "incarnation", h.Incarnation)
	return ss.server.hello(), nil
}

// maxEndpointQPs bounds what one connect request may ask for.
const maxEndpointQPs = 4096

// connect makes the remote half of an endpoint.
func (ss *session) connect(ask connectRequest) (connectReply, error) {
	s := ss.server
	nic := -1
	for i, n := range s.nics {
		if n.Name() == ask.Remote {
			nic = i
		}
	}
	switch n := len(ask.Addresses); {
	case nic < 0:
		h := s.hello()
		return connectReply{}, fmt.Errorf("%s has no NIC %q; it has %v", h.Name, ask.Remote, h.names())
	case n < 1 || n > maxEndpointQPs:
		return connectReply{}, fmt.Errorf("%d QPs asked for; an endpoint has 1 to %d", n, maxEndpointQPs)
	}
	ss.last++
	reply := connectReply{Endpoint: ss.last}
	for _, remote := range ask.Addresses {
		qp, err := s.nics[nic].NewQP(s.cqs[nic], s.qp)
		if err == nil {
			ss.endpoints[ss.last] = append(ss.endpoints[ss.last], qp)
			reply.Addresses = append(reply.Addresses, qp.Address())
			err = qp.Connect(remote)
		}
		if err != nil {
			_, closing := ss.disconnect(disconnectRequest{ss.last})
			return connectReply{}, errors.Join(fmt.Errorf("QP at %s: %w", ask.Remote, err), closing)
		}
	}
	return reply, nil
}

func (ss *session) disconnect(ask disconnectRequest) (nothing, error) {
	var faults []error
	for _, qp := range ss.endpoints[ask.Endpoint] {
		faults = append(faults, qp.Close())
	}
	delete(ss.endpoints, ask.Endpoint)
	return nothing{}, errors.Join(faults...)
}

func (ss *session) create(ask objectRequest) (Object, error) {
	return ss.server.store.create(ask, ss)
}

func (ss *session) open(ask objectRequest) (Object, error) {
	return ss.server.store.open(ask.Object, ss)
}

func (ss *session) seal(ask objectRequest) (nothing, error) {
	return nothing{}, ss.server.store.seal(ask.Object, ss)
}

func (ss *session) delete(ask objectRequest) (nothing, error) {
	return nothing{}, ss.server.store.delete(ask.Object, ss)
}

func (ss *session) checksums(ask checksumsRequest) (checksumsReply, error) {
	return ss.server.store.checksums(ask, ss)
}

// cleanUp takes back the QPs first: after that nobody writes to the objects.
func (ss *session) cleanUp() error {
	var faults []error
	for id := range ss.endpoints {
		_, err := ss.disconnect(disconnectRequest{id})
		faults = append(faults, err)
	}
	return errors.Join(append(faults, ss.server.store.abandon(ss))...)
}
