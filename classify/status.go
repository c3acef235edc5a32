package classify

//go:generate go tool stringer -type=Status -linecomment

// Status is the status of a work completion, with the numeric values of
// libibverbs' enum ibv_wc_status. Values above [StatusTMRndvIncomplete] are
// statuses that this package does not know; they classify as Fatal.
type Status uint32

// The 24 statuses of enum ibv_wc_status.
const (
	StatusSuccess          Status = 0  // success
	StatusLocLenErr        Status = 1  // local length error
	StatusLocQPOpErr       Status = 2  // local QP operation error
	StatusLocEECOpErr      Status = 3  // local EE context operation error
	StatusLocProtErr       Status = 4  // local protection error
	StatusWRFlushErr       Status = 5  // work request flushed
	StatusMWBindErr        Status = 6  // memory window bind error
	StatusBadRespErr       Status = 7  // bad response
	StatusLocAccessErr     Status = 8  // local access error
	StatusRemInvReqErr     Status = 9  // remote invalid request
	StatusRemAccessErr     Status = 10 // remote access error
	StatusRemOpErr         Status = 11 // remote operation error
	StatusRetryExcErr      Status = 12 // transport retries exceeded
	StatusRNRRetryExcErr   Status = 13 // receiver-not-ready retries exceeded
	StatusLocRDDViolErr    Status = 14 // local RDD violation
	StatusRemInvRDReqErr   Status = 15 // remote invalid RD request
	StatusRemAbortErr      Status = 16 // remote aborted
	StatusInvEECNErr       Status = 17 // invalid EE context number
	StatusInvEECStateErr   Status = 18 // invalid EE context state
	StatusFatalErr         Status = 19 // fatal error
	StatusRespTimeoutErr   Status = 20 // response timeout
	StatusGeneralErr       Status = 21 // general error
	StatusTMErr            Status = 22 // tag matching error
	StatusTMRndvIncomplete Status = 23 // tag matching rendezvous incomplete
)
