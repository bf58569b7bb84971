package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/mcp/wire"
)

// Transport is how a server is reached.
type Transport string

// The transports.
const (
	StreamableHTTP Transport = "streamable_http"
	JSONOverHTTP   Transport = "http"  // Streamable HTTP of a server that only ever answers with JSON
	SSE            Transport = "sse"   // the HTTP+SSE of 2024
	Stdio          Transport = "stdio" // a child process
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
	// Room bounds what long answers to calls and queries take while they are read; nil: nothing does.
	Room *Room
	// Span is the trace context that a request is a part of, as W3C Trace Context writes it, for the server to go on with; parent is empty
	// where there is none. nil: servers are told of none. It goes out in the HTTP headers of every request. In _meta (SEP-414) it stands
	// where the _meta is ours, and those of others are passed on as they are.
	Span func(context.Context) (parent, state string)
	// Wait pauses between two tries, or returns the context's error; nil: a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Target is a server to talk to.
type Target struct {
	URL       string
	Transport Transport // empty: StreamableHTTP
	// Header goes with every request: credentials and what the server's operator asks for.
	Header http.Header
	// HTTP sends the session's requests in place of the dialer's; nil: the dialer's does. It must not follow redirects by itself, either.
	HTTP *http.Client
	// Timeout bounds each request with its whole answer; 0: 30 s.
	Timeout time.Duration
	// Retries counts further tries of one request after the first.
	Retries int
	// Era is the one that answered last time; it is tried first. EraUnknown: find out.
	Era Era
	// Known, where set, spares a server of the modern era the question what it is: the first list tells whether it still is that, and it
	// is asked where not.
	Known *Known
	// Command is the child process of Stdio; the fields that are about HTTP mean nothing there.
	Command *Command
	// Capabilities are what the session's owner can answer when a server asks, as MCP writes them (an object); empty: nothing.
	Capabilities json.RawMessage
	// Observe, where set, is told how far the conversation is. It must return quickly.
	Observe func(Progress)
	// Trace, where set, collects the exchanges.
	Trace *Trace
}

// Progress says how far a conversation is.
type Progress struct {
	Phase Phase
	Page  int // pages of the tool list that arrived
	Tools int // well-formed tools that arrived
}

// budget is the time for one conversation: its longest request with all retries, and something for the rest.
func (t Target) budget() time.Duration {
	return t.Timeout*time.Duration(1+t.Retries) + sessionSlack
}

// Dial opens a session in the era that the server speaks. From here to the end of the first Tools it takes at most
// Timeout × (1 + Retries) + 55 s. Every error is an *Error.
func (d *Dialer) Dial(ctx context.Context, t Target) (*Session, error) {
	if t.Timeout <= 0 {
		t.Timeout = defaultTimeout
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	s := &Session{dialer: d, target: t, retry: d.retry(t.Retries), era: t.Era, deadline: time.Now().Add(t.budget())}
	s.life, s.end = context.WithCancel(context.Background())
	s.report(Progress{Phase: PhaseConnect})
	c, err := s.open(until{ctx, s.deadline})
	if err != nil {
		return nil, err
	}
	s.now = c
	return s, nil
}

// check tells what makes a target no target.
func (t Target) check() error {
	detail := ""
	switch t.Transport {
	case "", StreamableHTTP, JSONOverHTTP, SSE:
		if address, err := url.Parse(t.URL); err != nil || address.Host == "" {
			detail = "the URL cannot be read"
		}
	case Stdio:
		if t.Command == nil || t.Command.Path == "" {
			detail = "there is no command"
		}
	default:
		detail = "the transport is unknown"
	}
	if !wire.IsObject(t.Capabilities) {
		detail = "the capabilities are not an object"
	}
	if detail == "" {
		return nil
	}
	return &Error{Phase: PhaseConnect, Reason: ReasonUnreachable, Detail: detail}
}

// carrier makes one for a target that was checked, and for the era in which it is tried. What the server says by itself goes to the
// inbox.
func (d *Dialer) carrier(t Target, in Era, to inbox) carrier {
	if t.Transport == Stdio {
		return newStdioCarrier(*t.Command, to)
	}
	c := &httpCarrier{http: cmp.Or(t.HTTP, d.HTTP), header: d.header(t), inbox: to, wait: d.retry(0).wait, trace: t.Trace, era: in}
	c.room, c.span = d.Room, d.Span
	address, _ := url.Parse(t.URL)
	c.url.Store(address)
	if in == EraSSE {
		return newSSECarrier(c, to)
	}
	return c
}

// header goes with every request over HTTP.
func (d *Dialer) header(t Target) http.Header {
	header := t.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("User-Agent", "patchbay/"+d.Version)
	header.Set("Accept", "application/json, text/event-stream")
	return header
}

// info is our clientInfo.
func (d *Dialer) info() []byte {
	return wire.Object([]wire.Member{{Name: "name", Value: wire.Text("patchbay")}, {Name: "version", Value: wire.Text(d.Version)}})
}
