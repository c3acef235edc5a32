package scenario

import (
	"fmt"
	"strings"

	"github.com/rdmagate/rdmagate/classify"
)

// Words are the words that one kind of argument may be, each with its number.
type Words struct {
	// Name says what they are, such as "status".
	Name string
	list []word
	// Open says that any other number may be given too.
	Open   bool
	byText map[string]int64
	byNum  map[int64]string
}

type word struct {
	text string
	num  int64
}

// Text returns the word of a number, or the number if it has none.
func (w *Words) Text(num int64) string {
	if text, ok := w.byNum[num]; ok {
		return text
	}
	return fmt.Sprint(num)
}

// Num returns the number of a word.
func (w *Words) Num(text string) (num int64, known bool) {
	num, known = w.byText[text]
	return num, known
}

// All returns the words in the order of their numbers.
func (w *Words) All() (all []string) {
	for _, x := range w.list {
		all = append(all, x.text)
	}
	return all
}

func words(name string, list ...word) *Words {
	w := &Words{Name: name, list: list, byText: map[string]int64{}, byNum: map[int64]string{}}
	for _, x := range list {
		w.byText[x.text], w.byNum[x.num] = x.num, x.text
	}
	return w
}

// numbered are words with the numbers from 0.
func numbered(name string, texts ...string) *Words {
	var list []word
	for i, text := range texts {
		list = append(list, word{text, int64(i)})
	}
	return words(name, list...)
}

// generated are the words of an enumeration, as far as its String method knows them.
func generated[T ~uint8](name string) *Words {
	var texts []string
	for i := T(0); ; i++ {
		text := fmt.Sprint(i)
		if strings.Contains(text, "(") {
			return numbered(name, texts...)
		}
		texts = append(texts, strings.ReplaceAll(text, " ", "_"))
	}
}

func open(w *Words) *Words {
	w.Open = true
	return w
}

// The words. Numbers are those that the packages classify, cc, rail and taskstate give
// them.
var (
	Presets = numbered("settings", "default", "field")
	Modes   = numbered("mode", "off", "observe", "enforce")
	Laws    = numbered("law", "epoch", "round")

	Answers   = numbered("answer", "refused", "admit", "defer", "avoid")
	Domains   = numbered("domain", "none", "route", "device")
	Hints     = numbered("hint", "none", "divert", "renew")
	Edges     = numbered("edges", "none", "ended", "released", "ended+released")
	Progress  = numbered("poller state", "progressing", "stalled")
	Reasons   = generated[classify.Reason]("reason")
	Classes   = generated[classify.Class]("class")
	Scopes    = generated[classify.Scope]("scope")
	Sources   = generated[classify.Source]("source")
	States    = numbered("state", "HEALTHY", "CONGESTED", "SUSPECT", "QUARANTINED", "PROBING")
	Pressures = numbered("pressure", "neutral", "idle", "low", "high", "void")
	Standings = numbered("standing", "healthy", "suspect", "paused")

	TaskStates = numbered("task state", "UNKNOWN", "NORMAL", "CONGESTED", "LONG_UNAVAILABLE")

	// Notices are those of package cc, and cut_off for a transition with which the last
	// route to a peer went out of use.
	Notices = numbered("notice", "none", "persistent_fault", "last_route_kept", "port_exhausted", "device_exhausted", "cut_off")

	// Errors are the causes that package cc tells apart; invalid is any other.
	Errors = numbered("error", "none", "closed", "held", "not_held", "stale_generation", "trial_over", "foreign", "unknown_qp", "no_element", "ended", "invalid")

	// Statuses are those of enum ibv_wc_status, Events those of enum ibv_event_type.
	Statuses = open(numbered("status", "SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR",
		"MW_BIND_ERR", "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR",
		"RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR", "INV_EECN_ERR", "INV_EEC_STATE_ERR",
		"FATAL_ERR", "RESP_TIMEOUT_ERR", "GENERAL_ERR", "TM_ERR", "TM_RNDV_INCOMPLETE"))
	Events = open(numbered("event", "CQ_ERR", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "COMM_EST", "SQ_DRAINED", "PATH_MIG",
		"PATH_MIG_ERR", "DEVICE_FATAL", "PORT_ACTIVE", "PORT_ERR", "LID_CHANGE", "PKEY_CHANGE", "SM_CHANGE", "SRQ_ERR",
		"SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER", "GID_CHANGE", "WQ_FATAL"))
	Errnos = open(words("errno", word{"EIO", 5}, word{"EAGAIN", 11}, word{"ENOMEM", 12}, word{"EFAULT", 14}, word{"EBUSY", 16},
		word{"ENODEV", 19}, word{"EINVAL", 22}, word{"EOVERFLOW", 75}, word{"ETIMEDOUT", 110}))
)
