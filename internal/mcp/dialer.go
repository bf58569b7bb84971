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
	JSONOverHTTP   Transport = "http"  // Streamable HTTP of a server that only responds with JSON
	SSE            Transport = "sse"   // HTTP+SSE of revision 2024-11-05
	Stdio          Transport = "stdio" // a child process
)

const (
	defaultTimeout = 30 * time.Second
	// sessionMargin is a session's time beyond its longest request. With closeTimeout and storing, a sync takes
	// less than timeout × (1 + retries) + 60 s.
	sessionMargin = 55 * time.Second
)

// Dialer opens MCP sessions. It may be shared; only HTTP is required.
type Dialer struct {
	// HTTP sends every request. It must not follow redirects (CheckRedirect = http.ErrUseLastResponse): the
	// session follows them where credentials may be sent.
	HTTP *http.Client
	// Version is Patchbay's version, for User-Agent and clientInfo.
	Version string
	// Jitter returns a number in [0, 1) that spreads retries; nil: random.
	Jitter func() float64
	// MemoryLimit bounds the memory of long responses while they are read; nil: unlimited.
	MemoryLimit *MemoryLimit
	// TraceContext returns the W3C trace context to propagate; parent is empty if there is none. nil: nothing is
	// propagated. It goes into the headers of every HTTP request, and into our own _meta (SEP-414).
	// A caller's _meta is passed on unchanged.
	TraceContext func(context.Context) (parent, state string)
	// Sleep pauses before a retry, or returns ctx's error; nil: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Target is a server to connect to.
type Target struct {
	URL       string
	Transport Transport // empty: StreamableHTTP
	// Header is sent with every request: credentials and the operator's own headers.
	Header http.Header
	// HTTP replaces the dialer's client; nil: the dialer's. It must not follow redirects either.
	HTTP *http.Client
	// Timeout bounds each request with its response; 0: 30 s.
	Timeout time.Duration
	// Retries is the number of attempts after the first.
	Retries int
	// Backoff is the first pause between attempts, of which each next one is twice as long, up to 10 s, and random over its
	// upper half; 0: 250 ms.
	Backoff time.Duration
	// MaxResponse bounds a message of the server, in bytes; 0, and the maximum: 8 MiB.
	MaxResponse int
	// Reconnects is how often a broken stream is reopened in a row without an event; nil: 5.
	Reconnects *int
	// Era is the era that worked last time and is tried first; EraUnknown: detect.
	Era Era
	// Known, if set, saves server/discover with a modern-era server. The first list shows whether it is still
	// valid; if not, the server is asked.
	Known *CachedServerInfo
	// Resume is the [Session.Token] of a session to continue without opening requests; empty: a new session.
	Resume string
	// Command is the child process of Stdio, for which the HTTP fields are unused.
	Command *Command
	// Capabilities are the client capabilities, an object; empty: none.
	Capabilities json.RawMessage
	// Observe, if set, receives the progress. It must return quickly.
	Observe func(Progress)
	// Trace, if set, records the exchanges.
	Trace *Trace
}

// Progress is the progress of a session.
type Progress struct {
	Phase Phase
	Page  int // tool list pages that arrived
	Tools int // valid tools that arrived
}

// timeBudget is the time for one session: its longest request with all retries, and sessionMargin.
func (t Target) timeBudget() time.Duration {
	return t.Timeout*time.Duration(1+t.Retries) + sessionMargin
}

// Dial opens a session in the era that the server speaks. Dial and the first Tools together take at most
// Timeout × (1 + Retries) + 55 s. Every error is an *Error.
func (d *Dialer) Dial(ctx context.Context, t Target) (*Session, error) {
	if t.Timeout <= 0 {
		t.Timeout = defaultTimeout
	}
	if err := t.validateTarget(); err != nil {
		return nil, err
	}
	s := &Session{dialer: d, target: t, retryPolicy: d.newRetryPolicy(t.Retries, t.Backoff), era: t.Era, deadline: time.Now().Add(t.timeBudget())}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.reportProgress(Progress{Phase: PhaseConnect})
	c, err := s.openConnection(deadlineContext{ctx, s.deadline})
	if err != nil {
		return nil, err
	}
	s.conn = c
	return s, nil
}

func (t Target) validateTarget() error {
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

// newTransport returns a transport for a valid target and the era that is tried. Messages of the server go to
// onMessage.
func (d *Dialer) newTransport(t Target, era Era, onMessage messageHandler) transport {
	if t.Transport == Stdio {
		return newStdioTransport(*t.Command, onMessage, t.responseLimits())
	}
	c := &httpTransport{client: cmp.Or(t.HTTP, d.HTTP), limits: t.responseLimits(), header: d.baseHeader(t), onMessage: onMessage, wait: d.newRetryPolicy(0, 0).wait, trace: t.Trace, era: era}
	c.memory, c.traceContext = d.MemoryLimit, d.TraceContext
	address, _ := url.Parse(t.URL)
	c.url.Store(address)
	if era == EraSSE {
		return newSSETransport(c, onMessage)
	}
	return c
}

func (d *Dialer) baseHeader(t Target) http.Header {
	header := t.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("User-Agent", "patchbay/"+d.Version)
	header.Set("Accept", "application/json, text/event-stream")
	return header
}

func (d *Dialer) clientInfo() []byte {
	return wire.Object([]wire.Member{{Name: "name", Value: wire.Text("patchbay")}, {Name: "version", Value: wire.Text(d.Version)}})
}
