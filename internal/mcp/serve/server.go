package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"patchbay/internal/limit"
	"patchbay/internal/mcp/revision"
)

// Options configure a Server. The zero values suit a single process.
type Options struct {
	// Origins reports whether the Host and Origin headers of a request are allowed. nil: the same host; over a
	// loopback address only this machine.
	Origins func(r *http.Request) bool
	MaxBody int64 // bytes of a request; 0: 4 MiB

	KeepAlive    time.Duration // between comments on an idle stream; 0: 15 s
	StreamAfter  time.Duration // after which a waiting reply becomes a stream with comments; 0: 10 s
	StallTimeout time.Duration // how long a client may neither read nor send; 0: 30 s
	ResumeTTL    time.Duration // how long a broken stream can be resumed; 0: 5 min

	Listeners int // open streams of one caller; 0: 2000

	// MaxUnreadBytes and MaxUnreadPerKey bound the large responses in memory that clients have not read, in bytes. Above
	// them the ones without progress are aborted.
	MaxUnreadBytes  int64                      // of all callers; 0: 256 MiB
	MaxUnreadPerKey int64                      // of one; 0: 64 MiB
	BudgetKey       func(caller string) string // the name that a caller is counted under; nil: its own

	Log *slog.Logger // nil: slog.Default

	// SealSession returns a session id of visible ASCII, which OpenSession opens for the same caller in any
	// process. nil: with a key of this process.
	SealSession func(caller string, session []byte) (string, error)
	OpenSession func(caller, id string) ([]byte, error)

	Router     Router        // nil: a single process
	RelayCheck time.Duration // between two checks of a stream in another process that has a request; 0: 10 s

	UseNetHTTP bool // streams are written by net/http, and not by hijacked connections
}

func (o Options) withDefaults() Options {
	if o.Origins == nil {
		o.Origins = isLocalRequest
	}
	if o.SealSession == nil || o.OpenSession == nil {
		o.SealSession, o.OpenSession = newProcessSealer()
	}
	o.MaxBody = cmp.Or(o.MaxBody, 4<<20)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.StreamAfter = cmp.Or(o.StreamAfter, 10*time.Second)
	o.StallTimeout = cmp.Or(o.StallTimeout, 30*time.Second)
	o.ResumeTTL = cmp.Or(o.ResumeTTL, 5*time.Minute)
	o.RelayCheck = cmp.Or(o.RelayCheck, relayCheck)
	o.Listeners = cmp.Or(o.Listeners, 2000)
	o.MaxUnreadBytes = cmp.Or(o.MaxUnreadBytes, 256<<20)
	o.MaxUnreadPerKey = cmp.Or(o.MaxUnreadPerKey, 64<<20)
	if o.BudgetKey == nil {
		o.BudgetKey = func(caller string) string { return caller }
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}

// supportedVersions are the protocol versions, newest first.
var (
	supportedVersions = slices.Concat(revision.Modern, revision.Handshake)
	supportedJSON, _  = json.Marshal(supportedVersions) // strings always marshal
)

// Server serves MCP at any number of addresses.
type Server struct {
	opts        Options
	mailboxes   mailboxes
	sessions    *limit.Recent[sessionCacheKey, *Client] // by session id
	postedBoxes *limit.Recent[string, bool]             // mailboxes with a message for which no request waits
	logLevels   *limit.Recent[string, logLevel]         // by session
	resumable   resumableStreams

	responses      responseBuffer // large ones that are being written
	listeners      activeSet
	sessionStreams activeSet // listeners by session
	// sessionListeners are the same, of the handshake era, to send requests.
	sessionListeners sessionListeners
	relays           taskGroup // requests from other processes for these streams
	requests         activeSet // of the handshake era: they outlive their connection
}

// New returns a server.
func New(opts Options) *Server {
	opts = opts.withDefaults()
	return &Server{
		responses:      responseBuffer{maxBytes: opts.MaxUnreadBytes, maxCallerBytes: opts.MaxUnreadPerKey, stall: opts.StallTimeout},
		listeners:      activeSet{byCaller: limit.Gate[string]{PerKey: opts.Listeners}},
		sessionStreams: activeSet{byCaller: limit.Gate[string]{PerKey: maxSessionStreams}},

		opts:        opts,
		resumable:   resumableStreams{maxBytes: maxEndedBytes, retention: opts.ResumeTTL},
		sessions:    limit.NewRecent[sessionCacheKey, *Client](maxCachedSessions),
		postedBoxes: limit.NewRecent[string, bool](4 * maxCachedSessions),
		logLevels:   limit.NewRecent[string, logLevel](maxCachedSessions),
	}
}

// maxSessionStreams bounds the listeners of one session. A reconnecting client has two until the first is known
// to be closed.
const maxSessionStreams = 8

// maxCachedSessions bounds the sessions in the caches.
const maxCachedSessions = 4 << 10

// Handle answers one HTTP request of the caller, any string, from b. Sessions, cancellations and stored streams
// are bound to the caller. A listener's stream may go on after Handle has returned.
func (s *Server) Handle(w http.ResponseWriter, r *http.Request, caller string, b Backend) {
	v := &httpRequest{s: s, w: w, r: r, caller: caller, backend: b}
	if !s.opts.Origins(r) {
		v.rejectRequest(newStatusError(http.StatusForbidden, revision.CodeInvalidRequest, "Requests from this origin are not allowed."))
		return
	}
	switch r.Method {
	case http.MethodPost:
		v.servePost()
	case http.MethodGet:
		v.serveGet()
	case http.MethodDelete:
		v.serveDelete()
	default:
		v.rejectMethod()
	}
}

// Reject answers a request with an error before its body is read.
func (s *Server) Reject(w http.ResponseWriter, r *http.Request, e *RPCError) {
	(&httpRequest{s: s, w: w, r: r}).rejectRequest(e)
}

type httpRequest struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	caller  string
	backend Backend
}

func (r *httpRequest) rejectMethod() {
	r.w.Header().Set("Allow", "POST")
	r.rejectRequest(newStatusError(http.StatusMethodNotAllowed, revision.CodeInvalidRequest, "Send a POST: this address has no sessions."))
}

// rejectRequest sends an error without reading the body. The HTTP server reads on for a while; the deadline
// bounds that.
func (r *httpRequest) rejectRequest(e *RPCError) {
	if r.r.Body != nil && r.r.Body != http.NoBody {
		_ = http.NewResponseController(r.w).SetReadDeadline(time.Now().Add(r.s.opts.StallTimeout))
	}
	writeError(r.w, nil, e)
}

// CloseListeners ends the listeners' streams gracefully and refuses new ones. Requests go on.
func (s *Server) CloseListeners() { s.listeners.cancelAll() }

// Stop calls CloseListeners and waits for streams and requests. When ctx ends first, they are cancelled.
func (s *Server) Stop(ctx context.Context) {
	s.listeners.cancelAll()
	for _, all := range []*activeSet{&s.listeners, &s.requests} {
		select {
		case <-all.whenEmpty():
		case <-ctx.Done():
			all.cancelAll()
			<-all.whenEmpty()
		}
	}
	s.relays.stopTasks()
}
