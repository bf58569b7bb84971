package authserver

import (
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/limit"
	"patchbay/internal/store"
)

// Paths.
const (
	AuthorizePath  = "/oauth/authorize"
	tokenPath      = "/oauth/token"
	registerPath   = "/oauth/register"
	revokePath     = "/oauth/revoke"
	introspectPath = "/oauth/introspect"
	metadataPath   = "/.well-known/oauth-authorization-server"
	gatewayPath    = "/mcp" // parent of the resources
	adminPath      = "/mcp/admin"
)

// Lifetimes.
const (
	codeLife        = time.Minute
	accessLife      = time.Hour
	refreshIdle     = 30 * 24 * time.Hour // idle timeout of a client's access, renewed with each refresh
	refreshLifetime = 90 * 24 * time.Hour // maximum: then a person signs in again, and may have left since
	replayGrace     = 10 * time.Second    // in which the previous refresh token returns the same response
)

// maxRenewalsPerMinute bounds a client's token refreshes. Access tokens live an hour; each refresh locks and
// writes the client's row.
const maxRenewalsPerMinute = 30

// Scope is the scope of clients that act as an agent.
const Scope = "mcp"

// Options configure a [Server]. Store, Auth, HTTP, CheckURL and BaseURL are required.
type Options struct {
	Store    *store.Store
	Auth     *auth.Service
	HTTP     *http.Client                       // from safehttp, for client metadata documents
	CheckURL func(raw string) (*url.URL, error) // the egress rules
	BaseURL  string                             // of the gateway; also the issuer
	Log      *slog.Logger                       // nil: none
	Now      func() time.Time                   // nil: time.Now
}

// Server issues tokens to clients. It is safe for concurrent use.
type Server struct {
	store     *store.Store
	auth      *auth.Service
	documents *documentCache
	issuer    string
	log       *slog.Logger
	now       func() time.Time
	renewals  *limit.Rate[connectors.AgentClientID]
	keySets   *keySetCache
	checkURL  func(raw string) (*url.URL, error)
	exchanges *limit.Rate[connectors.AgentWorkloadID]
	signIns   *limit.Rate[connectors.UserID] // by identity assertions

	publicKeys *credentials.PublicKeys
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
		keySets: newKeySets(o), checkURL: o.CheckURL,
		exchanges: limit.NewRate[connectors.AgentWorkloadID](maxExchangesPerMinute/time.Minute.Seconds(), maxExchangesPerMinute),
		signIns:   limit.NewRate[connectors.UserID](maxExchangesPerMinute/time.Minute.Seconds(), maxExchangesPerMinute),
		documents: newDocuments(o.HTTP, o.CheckURL, o.Now),
		renewals:  limit.NewRate[connectors.AgentClientID](maxRenewalsPerMinute/time.Minute.Seconds(), maxRenewalsPerMinute),

		publicKeys: credentials.NewPublicKeys(o.Store),
	}
}
