package mcp

import (
	"encoding/json"
	"fmt"
	"time"
)

// Phase is a part of a session.
type Phase string

// The phases, in order.
const (
	PhaseConnect     Phase = "connect" // DNS, TCP, TLS: before HTTP
	PhaseDiscover    Phase = "discover"
	PhaseInitialize  Phase = "initialize"
	PhaseInitialized Phase = "initialized" // notifications/initialized
	PhaseList        Phase = "list"        // tools/list
	PhaseCall        Phase = "call"        // tools/call
	PhaseRequest     Phase = "request"     // any other request
	PhaseListen      Phase = "listen"      // a stream of server messages
	PhaseClose       Phase = "close"       // closing the MCP session
)

// Reason is a class of failures.
type Reason string

// The reasons.
const (
	ReasonUnreachable        Reason = "unreachable"         // no connection, or it broke
	ReasonTimeout            Reason = "timeout"             // no complete response in time
	ReasonTLS                Reason = "tls"                 // certificate or TLS handshake
	ReasonUnauthorized       Reason = "unauthorized"        // 401 or 403
	ReasonHTTPStatus         Reason = "http_status"         // another status that is not 2xx
	ReasonProtocol           Reason = "protocol"            // a response that is not MCP
	ReasonUnsupportedVersion Reason = "unsupported_version" // no common MCP version
	ReasonTooLarge           Reason = "too_large"           // more bytes, pages or tools than allowed
	ReasonRedirect           Reason = "redirect"            // redirects to another origin
	ReasonRPC                Reason = "rpc"                 // a JSON-RPC error
	ReasonInput              Reason = "input"               // asks for input that no callback provides
	ReasonMemoryLimit        Reason = "crowded"             // the memory limit left no room for a long response
)

// Error is a failed session or request. Only RPC and RemoteText hold remote text. Detail consists of our words and checked
// facts (a version, an origin). Err is for the log and never holds a body or a URL.
type Error struct {
	Phase      Phase
	Reason     Reason
	HTTPStatus int           // 0: no response
	Challenges []Challenge   // of WWW-Authenticate, with 401 and 403
	RetryAfter time.Duration // as the server asked; 0: not given
	RPCCode    int           // 0: none
	Detail     string        // safe to show: "answered with HTML"; empty: the reason suffices
	Retryable  bool          // the same request may succeed later
	Err        error

	// RPC is the JSON-RPC error as the server wrote it; nil: none. It is remote text: return it to the
	// requester only, never show or log it.
	RPC *RPCError

	// ExitCode is the exit status of a program that ended; nil: it runs, or a signal killed it.
	ExitCode *int

	supported []string   // versions that the server names
	remote    RemoteText // where RPC says nothing
}

// RPCError is a JSON-RPC error.
type RPCError struct {
	Code    int // 0: unreadable
	Message string
	Data    json.RawMessage
}

// Error returns phase, reason and facts, for logs.
func (e *Error) Error() string {
	s := fmt.Sprintf("mcp %s: %s", e.Phase, e.Reason)
	if e.HTTPStatus != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.HTTPStatus)
	}
	if e.RPCCode != 0 {
		s += fmt.Sprintf(" (JSON-RPC %d)", e.RPCCode)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// SessionLost reports whether the server no longer knew the MCP session. The session has reconnected by then,
// or does so at its next request.
func (e *Error) SessionLost() bool { return isSessionLost(e) }

// Interrupted reports whether a request was sent but its connection or stream ended before the reply. The
// server may have processed it.
func (e *Error) Interrupted() bool {
	return e.Retryable && (e.Phase == PhaseCall || e.Phase == PhaseRequest) && (e.Reason == ReasonUnreachable || e.Reason == ReasonProtocol)
}
