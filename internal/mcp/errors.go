package mcp

import (
	"encoding/json"
	"fmt"
	"time"
)

// Phase is a part of the conversation with a server.
type Phase string

// The phases, in their order.
const (
	PhaseConnect     Phase = "connect"     // name, address, TLS: no HTTP yet
	PhaseDiscover    Phase = "discover"    // server/discover
	PhaseInitialize  Phase = "initialize"  // initialize
	PhaseInitialized Phase = "initialized" // notifications/initialized
	PhaseList        Phase = "list"        // tools/list
	PhaseCall        Phase = "call"        // tools/call
	PhaseRequest     Phase = "request"     // any other request
	PhaseListen      Phase = "listen"      // a stream of what the server says by itself
	PhaseClose       Phase = "close"       // the end of the MCP session
)

// Reason is a class of failure.
type Reason string

// The reasons.
const (
	ReasonUnreachable        Reason = "unreachable"         // no connection, or it broke
	ReasonTimeout            Reason = "timeout"             // no whole answer in time
	ReasonTLS                Reason = "tls"                 // the certificate or the handshake
	ReasonUnauthorized       Reason = "unauthorized"        // 401 or 403
	ReasonHTTPStatus         Reason = "http_status"         // another status that is no success
	ReasonProtocol           Reason = "protocol"            // an answer that is not MCP
	ReasonUnsupportedVersion Reason = "unsupported_version" // an MCP version that we do not know
	ReasonTooLarge           Reason = "too_large"           // more bytes, pages or tools than we take
	ReasonRedirect           Reason = "redirect"            // sends us elsewhere
	ReasonRPC                Reason = "rpc"                 // a JSON-RPC error
	ReasonInput              Reason = "input"               // asks for what nobody here answers
	ReasonCrowded            Reason = "crowded"             // answered at length, and there was no room to read it
)

// Error is a failed conversation. But for RPC nothing in it repeats text of the remote side: Detail is made of our words and of
// checked facts (a version, an origin), and Err, which is for the log, never holds a body or a URL.
type Error struct {
	Phase      Phase
	Reason     Reason
	HTTPStatus int           // 0: no answer
	Challenges []Challenge   // of WWW-Authenticate, with 401 and 403
	RetryAfter time.Duration // as the server asked; 0: it did not
	RPCCode    int           // 0: no JSON-RPC error
	Detail     string        // safe to show, as "answered with HTML"; empty: the reason says it all
	Retryable  bool          // the same request may work later
	Err        error

	// RPC is the JSON-RPC error as the server wrote it; nil: none. It is remote text: hand it on to whoever asked, and show
	// and log it nowhere.
	RPC *RPCError

	supported []string // versions that the server names in place of ours
}

// RPCError is a JSON-RPC error.
type RPCError struct {
	Code    int // 0: none that can be read
	Message string
	Data    json.RawMessage
}

// Error names phase, reason and facts, for logs.
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

// SessionLost tells whether the server did not know the MCP session any more. The session has opened itself anew by then, or does
// at its next request.
func (e *Error) SessionLost() bool { return lost(e) }

// BrokenOff tells whether a request was sent whose answer was broken off: its connection or its stream ended before the reply. The server
// may have done what it was asked for.
func (e *Error) BrokenOff() bool {
	return e.Retryable && (e.Phase == PhaseCall || e.Phase == PhaseRequest) && (e.Reason == ReasonUnreachable || e.Reason == ReasonProtocol)
}
