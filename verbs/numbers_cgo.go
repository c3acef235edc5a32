//go:build linux && cgo && !386 && !arm && !mips && !mipsle

package verbs

// #include "shim.h"
import "C"

import "github.com/rdmagate/rdmagate/classify"

// This file does not compile unless the numbers of the Go side equal those of
// the C headers: each line indexes an array of one element with a
// difference that must be the constant 0.
var same [1]struct{}

// enum ibv_wc_status.
var (
	_ = same[classify.StatusSuccess-C.IBV_WC_SUCCESS]
	_ = same[classify.StatusLocLenErr-C.IBV_WC_LOC_LEN_ERR]
	_ = same[classify.StatusLocQPOpErr-C.IBV_WC_LOC_QP_OP_ERR]
	_ = same[classify.StatusLocEECOpErr-C.IBV_WC_LOC_EEC_OP_ERR]
	_ = same[classify.StatusLocProtErr-C.IBV_WC_LOC_PROT_ERR]
	_ = same[classify.StatusWRFlushErr-C.IBV_WC_WR_FLUSH_ERR]
	_ = same[classify.StatusMWBindErr-C.IBV_WC_MW_BIND_ERR]
	_ = same[classify.StatusBadRespErr-C.IBV_WC_BAD_RESP_ERR]
	_ = same[classify.StatusLocAccessErr-C.IBV_WC_LOC_ACCESS_ERR]
	_ = same[classify.StatusRemInvReqErr-C.IBV_WC_REM_INV_REQ_ERR]
	_ = same[classify.StatusRemAccessErr-C.IBV_WC_REM_ACCESS_ERR]
	_ = same[classify.StatusRemOpErr-C.IBV_WC_REM_OP_ERR]
	_ = same[classify.StatusRetryExcErr-C.IBV_WC_RETRY_EXC_ERR]
	_ = same[classify.StatusRNRRetryExcErr-C.IBV_WC_RNR_RETRY_EXC_ERR]
	_ = same[classify.StatusLocRDDViolErr-C.IBV_WC_LOC_RDD_VIOL_ERR]
	_ = same[classify.StatusRemInvRDReqErr-C.IBV_WC_REM_INV_RD_REQ_ERR]
	_ = same[classify.StatusRemAbortErr-C.IBV_WC_REM_ABORT_ERR]
	_ = same[classify.StatusInvEECNErr-C.IBV_WC_INV_EECN_ERR]
	_ = same[classify.StatusInvEECStateErr-C.IBV_WC_INV_EEC_STATE_ERR]
	_ = same[classify.StatusFatalErr-C.IBV_WC_FATAL_ERR]
	_ = same[classify.StatusRespTimeoutErr-C.IBV_WC_RESP_TIMEOUT_ERR]
	_ = same[classify.StatusGeneralErr-C.IBV_WC_GENERAL_ERR]
	_ = same[classify.StatusTMErr-C.IBV_WC_TM_ERR]
	_ = same[classify.StatusTMRndvIncomplete-C.IBV_WC_TM_RNDV_INCOMPLETE]
)

// enum ibv_event_type.
var (
	_ = same[classify.EventCQErr-C.IBV_EVENT_CQ_ERR]
	_ = same[classify.EventQPFatal-C.IBV_EVENT_QP_FATAL]
	_ = same[classify.EventQPReqErr-C.IBV_EVENT_QP_REQ_ERR]
	_ = same[classify.EventQPAccessErr-C.IBV_EVENT_QP_ACCESS_ERR]
	_ = same[classify.EventCommEst-C.IBV_EVENT_COMM_EST]
	_ = same[classify.EventSQDrained-C.IBV_EVENT_SQ_DRAINED]
	_ = same[classify.EventPathMig-C.IBV_EVENT_PATH_MIG]
	_ = same[classify.EventPathMigErr-C.IBV_EVENT_PATH_MIG_ERR]
	_ = same[classify.EventDeviceFatal-C.IBV_EVENT_DEVICE_FATAL]
	_ = same[classify.EventPortActive-C.IBV_EVENT_PORT_ACTIVE]
	_ = same[classify.EventPortErr-C.IBV_EVENT_PORT_ERR]
	_ = same[classify.EventLIDChange-C.IBV_EVENT_LID_CHANGE]
	_ = same[classify.EventPKeyChange-C.IBV_EVENT_PKEY_CHANGE]
	_ = same[classify.EventSMChange-C.IBV_EVENT_SM_CHANGE]
	_ = same[classify.EventSRQErr-C.IBV_EVENT_SRQ_ERR]
	_ = same[classify.EventSRQLimitReached-C.IBV_EVENT_SRQ_LIMIT_REACHED]
	_ = same[classify.EventQPLastWQEReached-C.IBV_EVENT_QP_LAST_WQE_REACHED]
	_ = same[classify.EventClientReregister-C.IBV_EVENT_CLIENT_REREGISTER]
	_ = same[classify.EventGIDChange-C.IBV_EVENT_GID_CHANGE]
	_ = same[classify.EventWQFatal-C.IBV_EVENT_WQ_FATAL]
)

// Work requests, completions and access rights.
var (
	_ = same[OpWrite-C.IBV_WR_RDMA_WRITE]
	_ = same[OpWriteWithImm-C.IBV_WR_RDMA_WRITE_WITH_IMM]
	_ = same[OpSend-C.IBV_WR_SEND]
	_ = same[OpSendWithImm-C.IBV_WR_SEND_WITH_IMM]
	_ = same[OpRead-C.IBV_WR_RDMA_READ]
	_ = same[WCSend-C.IBV_WC_SEND]
	_ = same[WCWrite-C.IBV_WC_RDMA_WRITE]
	_ = same[WCRead-C.IBV_WC_RDMA_READ]
	_ = same[WCRecv-C.IBV_WC_RECV]
	_ = same[WCRecvWithImm-C.IBV_WC_RECV_RDMA_WITH_IMM]
	_ = same[WCWithImm-C.IBV_WC_WITH_IMM]
	_ = same[SendFence-C.IBV_SEND_FENCE]
	_ = same[SendSignaled-C.IBV_SEND_SIGNALED]
	_ = same[SendSolicited-C.IBV_SEND_SOLICITED]
	_ = same[SendInline-C.IBV_SEND_INLINE]
	_ = same[AccessLocalWrite-C.IBV_ACCESS_LOCAL_WRITE]
	_ = same[AccessRemoteWrite-C.IBV_ACCESS_REMOTE_WRITE]
	_ = same[AccessRemoteRead-C.IBV_ACCESS_REMOTE_READ]
)

// QP states and attribute masks.
var (
	_ = same[StateReset-C.IBV_QPS_RESET]
	_ = same[StateInit-C.IBV_QPS_INIT]
	_ = same[StateRTR-C.IBV_QPS_RTR]
	_ = same[StateRTS-C.IBV_QPS_RTS]
	_ = same[StateSQD-C.IBV_QPS_SQD]
	_ = same[StateSQE-C.IBV_QPS_SQE]
	_ = same[StateErr-C.IBV_QPS_ERR]
	_ = same[attrState-C.IBV_QP_STATE]
	_ = same[attrAccess-C.IBV_QP_ACCESS_FLAGS]
	_ = same[attrPKeyIndex-C.IBV_QP_PKEY_INDEX]
	_ = same[attrPort-C.IBV_QP_PORT]
	_ = same[attrAV-C.IBV_QP_AV]
	_ = same[attrPathMTU-C.IBV_QP_PATH_MTU]
	_ = same[attrTimeout-C.IBV_QP_TIMEOUT]
	_ = same[attrRetry-C.IBV_QP_RETRY_CNT]
	_ = same[attrRNRRetry-C.IBV_QP_RNR_RETRY]
	_ = same[attrRecvPSN-C.IBV_QP_RQ_PSN]
	_ = same[attrReadsOut-C.IBV_QP_MAX_QP_RD_ATOMIC]
	_ = same[attrMinRNR-C.IBV_QP_MIN_RNR_TIMER]
	_ = same[attrSendPSN-C.IBV_QP_SQ_PSN]
	_ = same[attrReadsIn-C.IBV_QP_MAX_DEST_RD_ATOMIC]
	_ = same[attrCap-C.IBV_QP_CAP]
	_ = same[attrDestQPNum-C.IBV_QP_DEST_QPN]
)

// Devices, ports and events.
var (
	_ = same[NodeUnknown-C.IBV_NODE_UNKNOWN]
	_ = same[NodeCA-C.IBV_NODE_CA]
	_ = same[NodeSwitch-C.IBV_NODE_SWITCH]
	_ = same[NodeRouter-C.IBV_NODE_ROUTER]
	_ = same[NodeRNIC-C.IBV_NODE_RNIC]
	_ = same[NodeUSNIC-C.IBV_NODE_USNIC]
	_ = same[NodeUSNICUDP-C.IBV_NODE_USNIC_UDP]
	_ = same[NodeUnspecified-C.IBV_NODE_UNSPECIFIED]
	_ = same[TransportUnknown-C.IBV_TRANSPORT_UNKNOWN]
	_ = same[TransportIB-C.IBV_TRANSPORT_IB]
	_ = same[TransportIWARP-C.IBV_TRANSPORT_IWARP]
	_ = same[TransportUSNIC-C.IBV_TRANSPORT_USNIC]
	_ = same[TransportUSNICUDP-C.IBV_TRANSPORT_USNIC_UDP]
	_ = same[TransportUnspecified-C.IBV_TRANSPORT_UNSPECIFIED]
	_ = same[PortNop-C.IBV_PORT_NOP]
	_ = same[PortDown-C.IBV_PORT_DOWN]
	_ = same[PortInit-C.IBV_PORT_INIT]
	_ = same[PortArmed-C.IBV_PORT_ARMED]
	_ = same[PortActive-C.IBV_PORT_ACTIVE]
	_ = same[PortActiveDefer-C.IBV_PORT_ACTIVE_DEFER]
	_ = same[LinkUnspecified-C.IBV_LINK_LAYER_UNSPECIFIED]
	_ = same[LinkInfiniBand-C.IBV_LINK_LAYER_INFINIBAND]
	_ = same[LinkEthernet-C.IBV_LINK_LAYER_ETHERNET]
	_ = same[GIDTypeIB-C.IBV_GID_TYPE_IB]
	_ = same[GIDTypeRoCEv1-C.IBV_GID_TYPE_ROCE_V1]
	_ = same[GIDTypeRoCEv2-C.IBV_GID_TYPE_ROCE_V2]
	_ = same[MTU256-C.IBV_MTU_256]
	_ = same[MTU512-C.IBV_MTU_512]
	_ = same[MTU1024-C.IBV_MTU_1024]
	_ = same[MTU2048-C.IBV_MTU_2048]
	_ = same[MTU4096-C.IBV_MTU_4096]
	_ = same[elementNone-C.RGV_ELEMENT_NONE]
	_ = same[elementPort-C.RGV_ELEMENT_PORT]
	_ = same[elementQP-C.RGV_ELEMENT_QP]
	_ = same[elementCQ-C.RGV_ELEMENT_CQ]
	_ = same[elementSRQ-C.RGV_ELEMENT_SRQ]
	_ = same[elementWQ-C.RGV_ELEMENT_WQ]
)
