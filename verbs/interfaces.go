package verbs

// Poster is what an engine needs of a QP once it is connected. [*QP] has it, and
// so have the scripted QPs of package verbstest.
type Poster interface {
	ID() uint64
	Num() uint32
	PostSend(list []SendWR) (int, error)
	PostRecv(list []RecvWR) (int, error)
	ToErr() error
	ToReset() error
	Close() error
}

// Poller is what an engine needs of a CQ: [*CQ], or a scripted one.
type Poller interface {
	ID() uint64
	Poll(wcs []WC) (int, error)
	Close() error
}

// EventSource is what an engine needs of a device's asynchronous events:
// [*AsyncReader], or a scripted one.
type EventSource interface {
	Next() (AsyncEvent, error)
	Close() error
}

var (
	_ Poster      = (*QP)(nil)
	_ Poller      = (*CQ)(nil)
	_ EventSource = (*AsyncReader)(nil)
)
