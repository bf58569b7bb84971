package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/auditstreams"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connect"
	"patchbay/internal/credentialexport"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
	"patchbay/internal/mailing"
	"patchbay/internal/manage"
	"patchbay/internal/middleware"
	"patchbay/internal/publicregistry"
	"patchbay/internal/respond"
	"patchbay/internal/scim"
	"patchbay/internal/sso"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// Options configure a [Handler]. All above Rates are required.
type Options struct {
	Store            *store.Store
	Registry         *manage.Registry
	Syncer           *toolsync.Syncer
	Connect          *connect.Broker
	CredentialExport *credentialexport.Desk
	Access           *agentview.Cache   // the agents' views
	Calls            *toolcall.Executor // calls of tools
	Webhooks         *webhooks.Post     // receivers of notices
	Registries       *publicregistry.Service
	AuditStreams     *auditstreams.Service
	SCIM             *scim.Service
	SSO              *sso.Service
	Programs         *authserver.Server // the authorization server for programs
	Auth             *auth.Service      // sessions are loaded by middleware before
	Mailing          *mailing.Service   // nil: no e-mail is sent
	Respond          *respond.Responder
	BaseURL          string // without a slash at the end
	Version          string

	Rates     Rates              // zero: no limits
	Throttled func(limit string) // called for each refused request with the exceeded limit, "caller" or "tenant"; may be nil
	Now       func() time.Time   // nil: time.Now
}

// Handler is the JSON API.
type Handler struct {
	store            *store.Store
	registry         *manage.Registry
	sync             *toolsync.Syncer
	connect          *connect.Broker
	credentialExport *credentialexport.Desk
	access           *agentview.Cache
	calls            *toolcall.Executor
	webhooks         *webhooks.Post
	registries       *publicregistry.Service
	auditStreams     *auditstreams.Service
	scim             *scim.Service
	auth             *auth.Service
	sso              *sso.Service
	mailing          *mailing.Service
	programs         *authserver.Server
	respond          *respond.Responder
	baseURL          string
	version          string

	callers *limit.Rate[uuid.UUID] // by API key or person
	tenants *limit.Rate[uuid.UUID]
	rates   Rates
	refused func(whose string)
	now     func() time.Time

	identify  middleware.Middleware
	huma      huma.API
	routes    *chi.Mux // below /api
	syncTools http.Handler
	document  func() ([]byte, error) // encoded at the first call
}

// New returns the API with its OpenAPI document.
func New(o Options) (*Handler, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Throttled == nil {
		o.Throttled = func(string) {}
	}
	h := &Handler{
		store:            o.Store,
		registry:         o.Registry,
		sync:             o.Syncer,
		connect:          o.Connect,
		credentialExport: o.CredentialExport,
		access:           o.Access,
		calls:            o.Calls,
		webhooks:         o.Webhooks,
		registries:       o.Registries,
		auditStreams:     o.AuditStreams,
		scim:             o.SCIM,
		auth:             o.Auth,
		sso:              o.SSO,
		mailing:          o.Mailing,
		programs:         o.Programs,
		respond:          o.Respond,
		baseURL:          o.BaseURL,
		version:          o.Version,
		callers:          newThrottle(o.Rates.PerCaller),
		tenants:          newThrottle(o.Rates.PerTenant),
		rates:            o.Rates,
		refused:          o.Throttled,
		now:              o.Now,
		routes:           chi.NewMux(),
	}
	h.identify = identifyUnlessKnown(middleware.Authenticate(o.Auth.Identify, h.refuseCaller))
	h.routes.Use(noStore, h.identify, h.limitRate, headIsGet)
	h.routes.NotFound(h.notFound)
	h.routes.MethodNotAllowed(h.badMethod)
	h.huma = documentedAPI{huma.NewAPI(h.newConfig(o.Version), adapter{h})}
	h.mountOperations()
	h.document = prepareDocument(h.huma.OpenAPI())
	return h, nil
}

func (h *Handler) mountOperations() {
	h.mountOverview()
	h.mountConnectors()
	h.mountAPIs()
	h.mountHealth()
	h.mountTools()
	h.mountConnectorItems()
	h.mountToolCuration()
	h.mountToolChanges()
	h.mountInstructions()
	h.mountSkills()
	h.mountSyncRuns()
	h.mountCredentials()
	h.mountCredentialCompare()
	h.mountConnect()
	h.mountImport()
	h.mountCatalog()
	h.mountAgents()
	h.mountAgentTokens()
	h.mountAgentWorkloads()
	h.mountAgentAccounts()
	h.mountAgentClients()
	h.mountMemberClients()
	h.mountAgentGrants()
	h.mountAgentAllowances()
	h.mountAgentShaping()
	h.mountAgentTools()
	h.mountAgentItems()
	h.mountAgentWhy()
	h.mountAgentSize()
	h.mountAgentUnused()
	h.mountMCPConfig()
	h.mountToolCalls()
	h.mountToolTry()
	h.mountQuotas()
	h.mountApprovals()
	h.mountNotices()
	h.mountAudit()
	h.mountWebhooks()
	h.mountRegistries()
	h.mountAuditStreams()
	h.mountSCIM()
	h.mountAPIKeys()
	h.mountMembers()
	h.mountAccessRequests()
	h.mountInvitations()
	h.mountTenant()
	h.mountSSO()
}

// Mount serves /api and /openapi.json on r.
func (h *Handler) Mount(r chi.Router) {
	r.Mount("/api", h.routes)
	r.Get("/openapi.json", h.serveDocument)
	r.Head("/openapi.json", h.serveDocument)
}

// Inside serves /api in this process to callers that put an actor into the request's context. Permissions and
// rate limits are the same as at /api.
func (h *Handler) Inside() http.Handler {
	r := chi.NewMux()
	r.Mount("/api", h.routes)
	return r
}

// Throttled applies the API's rate limits to another handler.
func (h *Handler) Throttled(next http.Handler) http.Handler { return h.limitRate(next) }

// identifyUnlessKnown authenticates the caller unless the context has an actor. Nothing in a request can set
// one.
func identifyUnlessKnown(identify middleware.Middleware) middleware.Middleware {
	return func(next http.Handler) http.Handler {
		identified := identify(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, known := auth.ActorFrom(r.Context()); known {
				next.ServeHTTP(w, r)
				return
			}
			identified.ServeHTTP(w, r)
		})
	}
}

// SyncTools serves POST /connectors/{id}/sync_tools to programs. The dashboard has the same address for forms:
// the router asks [WantsJSON], and its pattern names {id}.
func (h *Handler) SyncTools() http.Handler { return h.syncTools }

// WantsJSON reports whether a request at a shared address is a program's: it has a key, or accepts JSON.
func WantsJSON(r *http.Request) bool {
	return r.Header.Get("Authorization") != "" ||
		strings.Contains(r.Header.Get("Accept"), "application/json")
}

// adapter mounts huma's operations on the chi router.
type adapter struct{ h *Handler }

// Handle implements huma.Adapter.
func (a adapter) Handle(op *huma.Operation, serve func(huma.Context)) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve(humachi.NewContext(op, r, w))
	})
	if path, ok := strings.CutPrefix(op.Path, "/api"); ok {
		a.h.routes.Method(op.Method, path, handler)
		return
	}
	a.h.syncTools = noStore(a.h.identify(a.h.limitRate(handler)))
}

// ServeHTTP implements huma.Adapter.
func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.h.routes.ServeHTTP(w, r) }

// noStore disables caching: responses are about one tenant, and one has a key.
func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// headIsGet routes HEAD as GET. The server drops the body.
func headIsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// refuseCaller responds to a caller that was not authenticated.
func (h *Handler) refuseCaller(w http.ResponseWriter, r *http.Request, err error) {
	if fault.Is(err, fault.Unauthenticated) && r.Header.Get("Authorization") == "" {
		err = fault.Wrap(fault.Unauthenticated, err, "Send an API key as Authorization: Bearer pb_key_…, or sign in.")
	}
	h.respond.Problem(w, r, err)
}

func (h *Handler) notFound(w http.ResponseWriter, r *http.Request) {
	h.respond.Problem(w, r, fault.Errorf(fault.NotFound, "No such endpoint."))
}

func (h *Handler) badMethod(w http.ResponseWriter, r *http.Request) {
	path := chi.RouteContext(r.Context()).RoutePath
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		if h.routes.Match(chi.NewRouteContext(), method, path) {
			w.Header().Add("Allow", method)
		}
	}
	h.respond.Problem(w, r, fault.Errorf(fault.BadMethod, "This endpoint does not support the method."))
}
