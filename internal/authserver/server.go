package authserver

import (
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/middleware"
	"patchbay/internal/store"
)

// The addresses.
const (
	AuthorizePath  = "/oauth/authorize"
	tokenPath      = "/oauth/token"
	registerPath   = "/oauth/register"
	revokePath     = "/oauth/revoke"
	introspectPath = "/oauth/introspect"
	metadataPath   = "/.well-known/oauth-authorization-server"
	gatewayPath    = "/mcp" // below which the resources are
	adminPath      = "/mcp/admin"
)

// For how long things are good.
const (
	codeLife   = time.Minute
	accessLife = time.Hour
	lineLife   = 30 * 24 * time.Hour // of a program's access, anew with each refresh
	lineMost   = 90 * 24 * time.Hour // of it altogether: then a person signs in again, who may be somebody's no more
	grace      = 10 * time.Second    // in which the refresh token before has the answer that it had
)

// renewalsAMinute is how often a program may renew its tokens, which are good for an hour. Each renewal holds its row, and writes.
const renewalsAMinute = 30

// Scope is that of programs that are agents: to be the agent that the person chose. Those that act as their person have another.
const Scope = "mcp"

// Options are what a [Server] stands on. Store, Auth, HTTP, CheckURL and BaseURL are required.
type Options struct {
	Store    *store.Store
	Auth     *auth.Service
	HTTP     *http.Client                       // of safehttp, bounded: for programs' documents
	CheckURL func(raw string) (*url.URL, error) // the egress rules
	BaseURL  string                             // of the gateway, and the issuer
	Log      *slog.Logger                       // nil: none
	Now      func() time.Time                   // nil: time.Now
}

// Server gives tokens to programs. It is safe for concurrent use.
type Server struct {
	store     *store.Store
	auth      *auth.Service
	documents *documents
	issuer    string
	log       *slog.Logger
	now       func() time.Time
	renewals  *middleware.Throttle[connectors.AgentClientID]
}

// New makes a Server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{
		store: o.Store, auth: o.Auth, issuer: o.BaseURL, log: o.Log, now: o.Now,
		documents: newDocuments(o.HTTP, o.CheckURL, o.Now),
		renewals:  middleware.NewThrottle[connectors.AgentClientID](renewalsAMinute/time.Minute.Seconds(), renewalsAMinute),
	}
}
