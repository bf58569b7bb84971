package serve

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// Options make a Server. The zero value of each is a good one for a single process.
type Options struct {
	// Origins tells whether a request may come from where it says: its Host and Origin headers. nil: those of this machine, or of
	// the address that was asked for where that is not a loopback one.
	Origins func(r *http.Request) bool
	MaxBody int64 // bytes of a request; 0: 4 MiB

	KeepAlive time.Duration // between comments on a quiet stream; 0: 15 s
	Silence   time.Duration // after which a reply becomes a stream, so that there can be comments; 0: 10 s
	Stall     time.Duration // how long a client may take no byte; 0: 30 s
	Stay      time.Duration // how long a reply whose stream broke is kept; 0: 5 min

	Log *slog.Logger

	// SealSession makes a session's id, of visible ASCII, which OpenSession opens for the same caller alone, in any process.
	// nil: with a key of this process.
	SealSession func(who string, session []byte) (string, error)
	OpenSession func(who, id string) ([]byte, error)

	Router Router // nil: this process is alone
}

// Server speaks MCP at any number of addresses.
type Server struct {
	opts Options
}

// New makes a server.
func New(opts Options) *Server { return &Server{opts: opts} }

// Handle answers one HTTP request of the caller who, whom b serves. who is any text; sessions, cancellations and kept replies are
// bound to it. A listener's stream may go on after Handle has returned.
func (s *Server) Handle(w http.ResponseWriter, r *http.Request, who string, b Backend) {
	w.WriteHeader(http.StatusNotImplemented)
}

// Arrived tells that another process has put something into a box.
func (s *Server) Arrived(box string) {}

// Shut ends the listeners' streams, in the way that each era has for it, and takes no new ones. Requests go on.
func (s *Server) Shut() {}

// Stop is Shut, and cancels every request whose client is gone or not, once ctx ends. It returns when all streams have ended.
func (s *Server) Stop(ctx context.Context) {}
