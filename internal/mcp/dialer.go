package mcp

import (
	"context"
	"net/http"
	"time"
)

// Transport is how a server is reached.
type Transport string

// The transports.
const (
	StreamableHTTP Transport = "streamable_http"
	JSONOverHTTP   Transport = "http" // Streamable HTTP of a server that only ever answers with JSON
)

// Dialer opens MCP sessions. It may be shared; the zero value lacks only HTTP.
type Dialer struct {
	// HTTP sends every request. It must not follow redirects by itself (CheckRedirect = http.ErrUseLastResponse):
	// the session does, and only where credentials may travel.
	HTTP *http.Client
	// Version is ours, for the User-Agent and clientInfo.
	Version string
	// Jitter returns a number in [0, 1) that spreads retries; nil: random.
	Jitter func() float64
	// Wait pauses between two tries, or returns the context's error; nil: a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Target is a server to talk to.
type Target struct {
	URL       string
	Transport Transport // empty: StreamableHTTP
	// Header goes with every request: credentials and what the server's operator asks for.
	Header http.Header
	// Timeout bounds each request with its whole answer; 0: 30 s.
	Timeout time.Duration
	// Retries counts further tries of one request after the first.
	Retries int
	// Observe, where set, is told how far the conversation is. It must return quickly.
	Observe func(Progress)
}

// Progress says how far a conversation is.
type Progress struct {
	Phase Phase
	Page  int // pages of the tool list that arrived
	Tools int // well-formed tools that arrived
}

// Dial opens a session: initialize, then notifications/initialized. Every error is an *Error.
func (d *Dialer) Dial(ctx context.Context, t Target) (*Session, error) {
	return nil, &Error{Phase: PhaseConnect, Reason: ReasonUnreachable}
}
