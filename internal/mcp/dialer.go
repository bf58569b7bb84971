package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Transport is how a server is reached.
type Transport string

// The transports.
const (
	StreamableHTTP Transport = "streamable_http"
	JSONOverHTTP   Transport = "http" // Streamable HTTP of a server that only ever answers with JSON
)

const (
	defaultTimeout = 30 * time.Second
	// sessionSlack is what a session may take besides its longest request. With the end of the session (closeTimeout)
	// and storing, a sync stays below timeout × (1 + retries) + 60 s.
	sessionSlack = 55 * time.Second
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

// Dial opens a session: initialize, then notifications/initialized. From here to the end of Tools it takes at most
// Timeout × (1 + Retries) + 55 s. Every error is an *Error.
func (d *Dialer) Dial(ctx context.Context, t Target) (*Session, error) {
	if t.Timeout <= 0 {
		t.Timeout = defaultTimeout
	}
	address, err := url.Parse(t.URL)
	switch {
	case err != nil || address.Host == "":
		return nil, &Error{Phase: PhaseConnect, Reason: ReasonUnreachable, Detail: "the URL cannot be read"}
	case t.Transport != "" && t.Transport != StreamableHTTP && t.Transport != JSONOverHTTP:
		return nil, &Error{Phase: PhaseConnect, Reason: ReasonUnreachable, Detail: "the transport is unknown",
			Err: errors.New("unknown transport " + string(t.Transport))}
	}
	s := &Session{
		link:     d.link(address, t),
		retry:    d.retry(t.Retries),
		client:   clientInfo{Name: "patchbay", Version: d.Version},
		deadline: time.Now().Add(t.Timeout*time.Duration(1+t.Retries) + sessionSlack),
		observe:  t.Observe,
	}
	ctx, cancel := context.WithDeadline(ctx, s.deadline)
	defer cancel()
	s.report(Progress{Phase: PhaseConnect})
	if err := s.open(ctx); err != nil {
		s.Close(ctx)
		return nil, err
	}
	return s, nil
}

func (d *Dialer) link(address *url.URL, t Target) *link {
	header := t.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("User-Agent", "patchbay/"+d.Version)
	header.Set("Accept", "application/json, text/event-stream")
	return &link{http: d.HTTP, url: address, header: header, timeout: t.Timeout}
}
