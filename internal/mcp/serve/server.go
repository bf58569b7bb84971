package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"patchbay/internal/mcp/revision"
)

// Options make a Server. The zero value of each is a good one for a single process.
type Options struct {
	// Origins tells whether a request may come from where it says: its Host and Origin headers. nil: over a loopback address from
	// this machine alone, and from the host that was asked for.
	Origins func(r *http.Request) bool
	MaxBody int64 // bytes of a request; 0: 4 MiB

	KeepAlive time.Duration // between comments on a quiet stream; 0: 15 s
	Silence   time.Duration // after which a reply becomes a stream, so that there can be comments; 0: 10 s
	Stall     time.Duration // how long a client may take no byte and send none; 0: 30 s
	Stay      time.Duration // how long a reply whose stream broke is kept; 0: 5 min

	Listeners int // open streams of one caller; 0: 2000

	// Long answers that clients have not taken yet stand in memory, up to so many bytes; then the ones that stand still are given up.
	Unread     int64                   // of all callers; 0: 256 MiB
	UnreadEach int64                   // of one; 0: 64 MiB
	Payer      func(who string) string // as whom a caller counts, where one has several names; nil: each for itself

	Log *slog.Logger // nil: the default one

	// SealSession makes a session's id, of visible ASCII, which OpenSession opens for the same caller alone, in any process.
	// nil: with a key of this process.
	SealSession func(who string, session []byte) (string, error)
	OpenSession func(who, id string) ([]byte, error)

	Router Router // nil: this process is alone
}

func (o Options) filled() Options {
	if o.Origins == nil {
		o.Origins = local
	}
	if o.SealSession == nil || o.OpenSession == nil {
		o.SealSession, o.OpenSession = ownKey()
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
		o.Payer = func(who string) string { return who }
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}

// supported are the versions that we speak, newest first.
var (
	supported        = slices.Concat(revision.Modern, revision.Handshake)
	supportedJSON, _ = json.Marshal(supported) // texts always marshal
)

// Server speaks MCP at any number of addresses.
type Server struct {
	opts     Options
	boxes    boxes
	sessions *recent[sessionKey, *Peer] // opened ones
	ended    *recent[string, bool]      // boxes of ended sessions
	levels   *recent[string, level]     // of the messages that a session wants, by box
	tapes    tapes                      // of streams that may be resumed

	shelf     shelf // long answers on their way
	listeners crowd
	streams   crowd // of listeners of one session
	requests  crowd // of clients of the handshake era, whose end does not end them
}

// New makes a server.
func New(opts Options) *Server {
	opts = opts.filled()
	return &Server{
		shelf:     shelf{most: opts.Unread, mostEach: opts.UnreadEach, stall: opts.Stall},
		listeners: crowd{most: opts.Listeners},
		streams:   crowd{most: mostStreams},

		opts:     opts,
		tapes:    tapes{most: mostKept, stay: opts.Stay},
		sessions: newRecent[sessionKey, *Peer](mostRemembered),
		ended:    newRecent[string, bool](4 * mostRemembered), // other boxes get in between
		levels:   newRecent[string, level](mostRemembered),
	}
}

// mostStreams bounds the listeners of one session. A client has one, and another one when it comes back before the first is known to be gone.
const mostStreams = 8

// mostRemembered bounds what is known of sessions by heart.
const mostRemembered = 4 << 10

// Handle answers one HTTP request of the caller who, whom b serves. who is any text; sessions, cancellations and kept replies are
// bound to it. A listener's stream goes on after Handle has returned, where the connection allows that.
func (s *Server) Handle(w http.ResponseWriter, r *http.Request, who string, b Backend) {
	v := &visit{s: s, w: w, r: r, who: who, backend: b}
	if !s.opts.Origins(r) {
		v.turnAway(refusal(http.StatusForbidden, revision.CodeInvalidRequest, "Requests from this origin are not allowed."))
		return
	}
	switch r.Method {
	case http.MethodPost:
		v.post()
	case http.MethodGet:
		v.get()
	case http.MethodDelete:
		v.delete()
	default:
		v.notAllowed()
	}
}

// TurnAway answers a request with an error before anything of it is read.
func (s *Server) TurnAway(w http.ResponseWriter, r *http.Request, e *RPCError) {
	(&visit{s: s, w: w, r: r}).turnAway(e)
}

// visit is one HTTP request.
type visit struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	who     string
	backend Backend
}

func (v *visit) notAllowed() {
	v.w.Header().Set("Allow", "POST")
	v.turnAway(refusal(http.StatusMethodNotAllowed, revision.CodeInvalidRequest, "Send a POST: there is no session here."))
}

// turnAway answers a request whose body nobody reads. The HTTP server does, for a while: a deadline bounds that.
func (v *visit) turnAway(e *RPCError) {
	if v.r.Body != nil && v.r.Body != http.NoBody {
		_ = http.NewResponseController(v.w).SetReadDeadline(time.Now().Add(v.s.opts.Stall))
	}
	writeError(v.w, nil, e)
}

// Shut ends the listeners' streams, in the way that each era has for it, and takes no new ones. Requests go on.
func (s *Server) Shut() { s.listeners.end() }

// Stop is Shut, and waits for the streams and requests to end. When ctx does before, the requests are cancelled.
func (s *Server) Stop(ctx context.Context) {
	s.listeners.end()
	for _, all := range []*crowd{&s.listeners, &s.requests} {
		select {
		case <-all.gone():
		case <-ctx.Done():
			all.end()
			<-all.gone()
		}
	}
}
