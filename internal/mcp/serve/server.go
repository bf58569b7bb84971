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

	KeepAlive time.Duration // between comments on an idle stream; 0: 15 s
	Silence   time.Duration // after which a waiting reply becomes a stream with comments; 0: 10 s
	Stall     time.Duration // how long a client may neither read nor send; 0: 30 s
	Stay      time.Duration // how long a broken stream can be resumed; 0: 5 min

	Listeners int // open streams of one caller; 0: 2000

	// Unread and UnreadEach bound the large responses in memory that clients have not read, in bytes. Above
	// them the ones without progress are aborted.
	Unread     int64                      // of all callers; 0: 256 MiB
	UnreadEach int64                      // of one; 0: 64 MiB
	Payer      func(caller string) string // the name that a caller is counted under; nil: its own

	Log *slog.Logger // nil: slog.Default

	// SealSession returns a session id of visible ASCII, which OpenSession opens for the same caller in any
	// process. nil: with a key of this process.
	SealSession func(caller string, session []byte) (string, error)
	OpenSession func(caller, id string) ([]byte, error)

	Router Router // nil: a single process

	Standard bool // streams are written by net/http, and not by hijacked connections
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
	o.Silence = cmp.Or(o.Silence, 10*time.Second)
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
	o.Stay = cmp.Or(o.Stay, 5*time.Minute)
	o.Listeners = cmp.Or(o.Listeners, 2000)
	o.Unread = cmp.Or(o.Unread, 256<<20)
	o.UnreadEach = cmp.Or(o.UnreadEach, 64<<20)
	if o.Payer == nil {
		o.Payer = func(caller string) string { return caller }
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
	opts          Options
	mailboxes     mailboxes
	sessions      *recentCache[sessionCacheKey, *Peer] // by session id
	endedSessions *recentCache[string, bool]           // by mailbox
	logLevels     *recentCache[string, logLevel]       // by session
	resumable     resumableStreams

	responses      responseBuffer // large ones that are being written
	listeners      activeSet
	sessionStreams activeSet // listeners by session
	requests       activeSet // of the handshake era: they outlive their connection
}

// New returns a server.
func New(opts Options) *Server {
	opts = opts.withDefaults()
	return &Server{
		responses:      responseBuffer{maxBytes: opts.Unread, maxCallerBytes: opts.UnreadEach, stall: opts.Stall},
		listeners:      activeSet{byCaller: limit.Gate[string]{PerKey: opts.Listeners}},
		sessionStreams: activeSet{byCaller: limit.Gate[string]{PerKey: maxSessionStreams}},

		opts:          opts,
		resumable:     resumableStreams{maxBytes: maxEndedBytes, retention: opts.Stay},
		sessions:      newRecentCache[sessionCacheKey, *Peer](maxRemembered),
		endedSessions: newRecentCache[string, bool](4 * maxRemembered), // names of other mailboxes are in it too
		logLevels:     newRecentCache[string, logLevel](maxRemembered),
	}
}

// maxSessionStreams bounds the listeners of one session. A reconnecting client has two until the first is known
// to be closed.
const maxSessionStreams = 8

// maxRemembered bounds the sessions in the caches.
const maxRemembered = 4 << 10

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

// TurnAway answers a request with an error before its body is read.
func (s *Server) TurnAway(w http.ResponseWriter, r *http.Request, e *RPCError) {
	(&httpRequest{s: s, w: w, r: r}).rejectRequest(e)
}

type httpRequest struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	caller  string
	backend Backend
}

func (v *httpRequest) rejectMethod() {
	v.w.Header().Set("Allow", "POST")
	v.rejectRequest(newStatusError(http.StatusMethodNotAllowed, revision.CodeInvalidRequest, "Send a POST: there is no session here."))
}

// rejectRequest sends an error without reading the body. The HTTP server reads on for a while; the deadline
// bounds that.
func (v *httpRequest) rejectRequest(e *RPCError) {
	if v.r.Body != nil && v.r.Body != http.NoBody {
		_ = http.NewResponseController(v.w).SetReadDeadline(time.Now().Add(v.s.opts.Stall))
	}
	writeError(v.w, nil, e)
}

// Shut ends the listeners' streams gracefully and refuses new ones. Requests go on.
func (s *Server) Shut() { s.listeners.cancelAll() }

// Stop calls Shut and waits for streams and requests. When ctx ends first, they are cancelled.
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
}
