package verbstest_test

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/rdmagate/rdmagate/classify"
	"github.com/rdmagate/rdmagate/verbs"
	"github.com/rdmagate/rdmagate/verbs/verbstest"
)

// A post list that the queue takes only in part, then a fault: the root error
// comes first and what is behind it flushes.
func Example() {
	cq := verbstest.NewCQ(64)
	qp := verbstest.NewQP(cq, nil, verbs.QPCap{MaxSendWR: 16})
	defer cq.Close()
	defer qp.Close()

	list := make([]verbs.SendWR, 4)
	for i := range list {
		list[i] = verbs.SendWR{WRID: uint64(100 + i), Op: verbs.OpWrite, Flags: verbs.SendSignaled}
	}
	qp.RefusePost(3, syscall.ENOMEM)
	n, err := qp.PostSend(list)
	fmt.Println("posted", n, "- queue full:", errors.Is(err, syscall.ENOMEM))

	qp.Complete(1)
	qp.Fail(classify.StatusRetryExcErr, 0x81)

	wcs := make([]verbs.WC, 8)
	n, _ = cq.Poll(wcs)
	for _, wc := range wcs[:n] {
		fmt.Println(wc.WRID, uint32(wc.Status), wc.VendorErr)
	}
	fmt.Println(qp.State(), len(qp.Outstanding()))
	// Output:
	// posted 3 - queue full: true
	// 100 0 0
	// 101 12 129
	// 102 5 0
	// ERR 0
}
