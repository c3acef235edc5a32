//go:build guest && linux && cgo

package verbs

// Drain moves the QP to SQD, which no engine needs: it is the one way to have
// Soft-RoCE make an event about a QP.
func (q *QP) Drain() error { return q.modify(qpModify{mask: attrState, state: StateSQD}, nil) }
