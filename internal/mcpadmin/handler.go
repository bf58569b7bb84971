package mcpadmin

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"patchbay/client"
	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/store"
)

// Path is the server's path. Its last element is a reserved slug.
const Path = "/mcp/admin"

// Options configure a [Handler]. All but Log are required.
type Options struct {
	API       http.Handler                         // with the actor from the context
	Throttled func(next http.Handler) http.Handler // applies the API's rate limits
	Identify  middleware.Authenticator
	Respond   *respond.Responder
	Store     *store.Store // seals sessions and questions, and records used confirmations
	BaseURL   *url.URL
	Version   string // Patchbay's
	Log       *slog.Logger
	Standard  bool // PATCHBAY_HTTP=standard: see serve.Options
}

// Handler serves /mcp/admin.
type Handler struct {
	api       *client.Client
	inProcess inProcessTransport
	server    *serve.Server
	respond   *respond.Responder
	store     *store.Store
	base      *url.URL
	version   string
	log       *slog.Logger
	handler   http.Handler

	identify middleware.Authenticator
}

// New returns a Handler.
func New(o Options) (*Handler, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	api, err := newInProcessClient(o.API)
	if err != nil {
		return nil, err
	}
	h := &Handler{api: api, inProcess: inProcessTransport{o.API}, respond: o.Respond, store: o.Store, base: o.BaseURL, version: o.Version, log: o.Log, identify: o.Identify}
	h.server = serve.New(serve.Options{
		Origins:    func(r *http.Request) bool { return !h.isForeign(r) },
		Log:        o.Log,
		UseNetHTTP: o.Standard,
		SealSession: func(who string, session []byte) (string, error) {
			return o.Store.SealHandle("mcp admin session", who, session)
		},
		OpenSession: func(who, id string) ([]byte, error) { return o.Store.OpenHandle("mcp admin session", who, id) },
	})
	h.handler = middleware.Authenticate(o.Identify, h.writeRefusal)(o.Throttled(http.HandlerFunc(h.serveRequest)))
	return h, nil
}

// ServeHTTP serves [Path].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Shut ends the listeners' streams. Requests go on.
func (h *Handler) Shut() { h.server.CloseListeners() }

// Stop waits for running requests and cancels them when ctx ends.
func (h *Handler) Stop(ctx context.Context) { h.server.Stop(ctx) }

func (h *Handler) serveRequest(w http.ResponseWriter, r *http.Request) {
	who, err := actorFrom(r.Context())
	if err != nil {
		h.writeRefusal(w, r, err)
		return
	}
	h.server.Handle(w, r, callerKey(who), &backend{h: h, actor: who, identifyAgain: func() (auth.Actor, error) {
		ctx, _, err := h.identify(r)
		if err != nil {
			return auth.Actor{}, err
		}
		return actorFrom(ctx)
	}})
}

func actorFrom(ctx context.Context) (auth.Actor, error) {
	who, ok := auth.ActorFrom(ctx)
	if !ok || who.ID() == nil {
		return auth.Actor{}, fault.Errorf(fault.Unauthenticated, "No caller is established.")
	}
	who.EntryPoint = "mcp"
	return who, nil
}

// callerKey identifies a caller for package serve: tenant, kind and id, and a person's program.
func callerKey(who auth.Actor) string {
	name := who.Tenant.ID.String() + " " + string(who.Kind) + " " + who.ID().String()
	if who.Program != nil {
		name += " " + who.Program.ID.String()
	}
	return name
}

// writeRefusal refuses a request. A 401 names the resource metadata (RFC 9728 section 5.1).
func (h *Handler) writeRefusal(w http.ResponseWriter, r *http.Request, err error) {
	metadata := strings.TrimRight(h.base.String(), "/") + "/.well-known/oauth-protected-resource" + Path
	says := respond.ResourceChallenge(fault.As(err), r.Header.Get("Authorization"), metadata)
	h.respond.Problem(&challengeWriter{w, says}, r, err)
}

// challengeWriter adds WWW-Authenticate to a 401.
type challengeWriter struct {
	http.ResponseWriter
	challenge string
}

// WriteHeader implements http.ResponseWriter.
func (c *challengeWriter) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		c.Header().Set("WWW-Authenticate", c.challenge)
	}
	c.ResponseWriter.WriteHeader(status)
}

// isForeign reports whether a browser sent the request from another site, or reached this one under a foreign
// host name (DNS rebinding). Programs send no Origin.
func (h *Handler) isForeign(r *http.Request) bool {
	for _, origin := range r.Header["Origin"] {
		from, err := url.Parse(origin)
		if err != nil || !h.isOwnOrigin(from.Scheme+"://"+from.Host) && (from.Host != r.Host || !isLoopback(from.Hostname())) {
			return true
		}
	}
	return isLoopback(h.base.Hostname()) && !isLoopback(requestHost(r))
}

func (h *Handler) isOwnOrigin(origin string) bool {
	return strings.EqualFold(origin, h.base.Scheme+"://"+h.base.Host)
}

func requestHost(r *http.Request) string { return (&url.URL{Host: r.Host}).Hostname() }

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
