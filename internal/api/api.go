package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"patchbay/internal/access"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connect"
	"patchbay/internal/fault"
	"patchbay/internal/handover"
	"patchbay/internal/middleware"
	"patchbay/internal/registry"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// Options configure a [Handler]. All above Rates are required.
type Options struct {
	Store    *store.Store
	Registry *registry.Registry
	Syncer   *toolsync.Syncer
	Connect  *connect.Broker
	Handover *handover.Desk
	Access   *access.Keeper   // what agents see
	Calls    *toolcall.Caller // what they call
	Webhooks *webhooks.Post   // who is told of notices
	SSO      *sso.Service
	Programs *authserver.Server // lets programs sign in
	Auth     *auth.Service      // its sessions are loaded before a request gets here
	Respond  *respond.Responder
	BaseURL  string // where programs reach us, without a slash at the end
	Version  string

	Rates     Rates              // how often may be asked; the zero value: without a limit
	Throttled func(whose string) // is told of each request that came too soon: "caller" or "tenant"; nil: nobody is
	Now       func() time.Time   // nil: time.Now
}

// Handler is the JSON API.
type Handler struct {
	store    *store.Store
	registry *registry.Registry
	sync     *toolsync.Syncer
	connect  *connect.Broker
	handover *handover.Desk
	access   *access.Keeper
	calls    *toolcall.Caller
	webhooks *webhooks.Post
	auth     *auth.Service
	sso      *sso.Service
	programs *authserver.Server
	respond  *respond.Responder
	baseURL  string
	version  string

	callers *middleware.Throttle[uuid.UUID] // an API key or a person each
	tenants *middleware.Throttle[uuid.UUID]
	rates   Rates
	refused func(whose string)
	now     func() time.Time

	identify  middleware.Middleware
	huma      huma.API
	routes    *chi.Mux // below /api
	syncTools http.Handler
	document  []byte
}

// New makes the API and its document.
func New(o Options) (*Handler, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Throttled == nil {
		o.Throttled = func(string) {}
	}
	h := &Handler{
		store:    o.Store,
		registry: o.Registry,
		sync:     o.Syncer,
		connect:  o.Connect,
		handover: o.Handover,
		access:   o.Access,
		calls:    o.Calls,
		webhooks: o.Webhooks,
		auth:     o.Auth,
		sso:      o.SSO,
		programs: o.Programs,
		respond:  o.Respond,
		baseURL:  o.BaseURL,
		version:  o.Version,
		callers:  newThrottle(o.Rates.PerCaller),
		tenants:  newThrottle(o.Rates.PerTenant),
		rates:    o.Rates,
		refused:  o.Throttled,
		now:      o.Now,
		routes:   chi.NewMux(),
	}
	h.identify = unlessKnown(middleware.Identify(o.Auth.Identify, h.refuse))
	h.routes.Use(noStore, h.identify, h.throttled, headIsGet)
	h.routes.NotFound(h.notFound)
	h.routes.MethodNotAllowed(h.badMethod)
	h.huma = documenting{huma.NewAPI(h.config(o.Version), adapter{h})}
	h.mountAll()
	var err error
	h.document, err = encodeDocument(h.huma.OpenAPI())
	return h, err
}

// mountAll makes every operation.
func (h *Handler) mountAll() {
	h.mountOverview()
	h.mountConnectors()
	h.mountHealth()
	h.mountTools()
	h.mountToolCuration()
	h.mountToolChanges()
	h.mountInstructions()
	h.mountSyncRuns()
	h.mountCredentials()
	h.mountCredentialCompare()
	h.mountConnect()
	h.mountImport()
	h.mountCatalog()
	h.mountAgents()
	h.mountAgentTokens()
	h.mountAgentAccounts()
	h.mountAgentClients()
	h.mountMemberClients()
	h.mountAgentGrants()
	h.mountAgentTools()
	h.mountAgentWhy()
	h.mountAgentSize()
	h.mountAgentUnused()
	h.mountMCPConfig()
	h.mountToolCalls()
	h.mountQuotas()
	h.mountApprovals()
	h.mountNotices()
	h.mountAudit()
	h.mountWebhooks()
	h.mountAPIKeys()
	h.mountMembers()
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

// Inside serves /api to the other doors of the house, which have established who asks: the actor stands in the request's context.
// It is refused what it would be refused at /api, at the same pace.
func (h *Handler) Inside() http.Handler {
	r := chi.NewMux()
	r.Mount("/api", h.routes)
	return r
}

// Throttled has requests of identified callers count as requests of the API, where another door takes them.
func (h *Handler) Throttled(next http.Handler) http.Handler { return h.throttled(next) }

// unlessKnown asks who is calling, unless another door did. Nothing that a request brings puts an actor into its context.
func unlessKnown(identify middleware.Middleware) middleware.Middleware {
	return func(next http.Handler) http.Handler {
		asked := identify(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, known := auth.ActorFrom(r.Context()); known {
				next.ServeHTTP(w, r)
				return
			}
			asked.ServeHTTP(w, r)
		})
	}
}

// SyncTools serves POST /connectors/{id}/sync_tools to programs. The dashboard has the same address for forms: whoever
// wires both asks [WantsJSON], and routes with a pattern that names {id}.
func (h *Handler) SyncTools() http.Handler { return h.syncTools }

// WantsJSON tells a program's request from a browser's, where both use one address: it carries a key, or it says that it
// reads JSON.
func WantsJSON(r *http.Request) bool {
	return r.Header.Get("Authorization") != "" ||
		strings.Contains(r.Header.Get("Accept"), "application/json")
}

// adapter hangs huma's operations on our router.
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
	a.h.syncTools = noStore(a.h.identify(a.h.throttled(handler)))
}

// ServeHTTP implements huma.Adapter.
func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.h.routes.ServeHTTP(w, r) }

// noStore keeps answers out of caches: they are about one tenant, and one of them holds a key.
func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// headIsGet routes HEAD as GET; the server leaves the body away.
func headIsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// refuse turns a caller away who is not known.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if fault.Is(err, fault.Unauthenticated) && r.Header.Get("Authorization") == "" {
		err = fault.Wrap(fault.Unauthenticated, err, "Send an API key as Authorization: Bearer pb_key_…, or sign in.")
	}
	h.respond.Problem(w, r, err)
}

func (h *Handler) notFound(w http.ResponseWriter, r *http.Request) {
	h.respond.Problem(w, r, fault.Errorf(fault.NotFound, "There is no such address in the API."))
}

func (h *Handler) badMethod(w http.ResponseWriter, r *http.Request) {
	path := chi.RouteContext(r.Context()).RoutePath
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		if h.routes.Match(chi.NewRouteContext(), method, path) {
			w.Header().Add("Allow", method)
		}
	}
	h.respond.Problem(w, r, fault.Errorf(fault.BadMethod, "This address does not take the method."))
}
