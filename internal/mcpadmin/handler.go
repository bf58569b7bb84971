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

// Path is where it is served. No connector has the slug that would have this address.
const Path = "/mcp/admin"

// Options configure a [Handler]. All but Log are required.
type Options struct {
	API       http.Handler                         // answers whoever stands in a request's context
	Throttled func(next http.Handler) http.Handler // has a request count as one of the API
	Identify  middleware.Identifier
	Respond   *respond.Responder
	Store     *store.Store // seals sessions and questions, and remembers which of these were answered
	BaseURL   *url.URL
	Version   string // ours
	Log       *slog.Logger
}

// Handler serves admins' assistants.
type Handler struct {
	api     *client.Client
	inside  inside
	server  *serve.Server
	respond *respond.Responder
	store   *store.Store
	base    *url.URL
	version string
	log     *slog.Logger
	serves  http.Handler

	identify middleware.Identifier
}

// New makes a Handler.
func New(o Options) (*Handler, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	api, err := newInside(o.API)
	if err != nil {
		return nil, err
	}
	h := &Handler{api: api, inside: inside{o.API}, respond: o.Respond, store: o.Store, base: o.BaseURL, version: o.Version, log: o.Log, identify: o.Identify}
	h.server = serve.New(serve.Options{
		Origins: func(r *http.Request) bool { return !h.foreign(r) },
		Log:     o.Log,
		SealSession: func(who string, session []byte) (string, error) {
			return o.Store.SealHandle("mcp admin session", who, session)
		},
		OpenSession: func(who, id string) ([]byte, error) { return o.Store.OpenHandle("mcp admin session", who, id) },
	})
	h.serves = middleware.Identify(o.Identify, h.refuse)(o.Throttled(http.HandlerFunc(h.serve)))
	return h, nil
}

// ServeHTTP answers at [Path].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.serves.ServeHTTP(w, r) }

// Shut ends the streams of those who listen. Requests go on.
func (h *Handler) Shut() { h.server.Shut() }

// Stop waits for the requests that are under way, and ends them when ctx does.
func (h *Handler) Stop(ctx context.Context) { h.server.Stop(ctx) }

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	who, err := callerOf(r.Context())
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.server.Handle(w, r, nameOf(who), &backend{h: h, who: who, again: func() (auth.Actor, error) {
		ctx, _, err := h.identify(r)
		if err != nil {
			return auth.Actor{}, err
		}
		return callerOf(ctx)
	}})
}

// callerOf is who was established.
func callerOf(ctx context.Context) (auth.Actor, error) {
	who, ok := auth.ActorFrom(ctx)
	if !ok || who.ID() == nil {
		return auth.Actor{}, fault.Errorf(fault.Unauthenticated, "No caller is established.")
	}
	who.Via = "mcp"
	return who, nil
}

// nameOf names a caller towards mcp/serve: its tenant, what it is, and itself; of a person, the program that acts as them, too.
func nameOf(who auth.Actor) string {
	name := who.Tenant.ID.String() + " " + string(who.Kind) + " " + who.ID().String()
	if who.Program != nil {
		name += " " + who.Program.ID.String()
	}
	return name
}

// refuse answers whoever is not let in. Who is not known is told where it is described how to sign in (RFC 9728 §5.1).
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	says := `Bearer resource_metadata="` + strings.TrimRight(h.base.String(), "/") + "/.well-known/oauth-protected-resource" + Path + `"`
	if r.Header.Get("Authorization") != "" {
		says += `, error="invalid_token"`
	}
	h.respond.Problem(&challenged{w, says}, r, err)
}

// challenged has a 401 say how to prove who one is.
type challenged struct {
	http.ResponseWriter
	says string
}

// WriteHeader implements http.ResponseWriter.
func (c *challenged) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		c.Header().Set("WWW-Authenticate", c.says)
	}
	c.ResponseWriter.WriteHeader(status)
}

// foreign tells whether a browser sent the request from another site's page, or came here by another site's name (DNS rebinding). Programs
// send no Origin.
func (h *Handler) foreign(r *http.Request) bool {
	for _, origin := range r.Header["Origin"] {
		from, err := url.Parse(origin)
		if err != nil || !h.own(from.Scheme+"://"+from.Host) && (from.Host != r.Host || !loopback(from.Hostname())) {
			return true
		}
	}
	return loopback(h.base.Hostname()) && !loopback(hostOf(r))
}

func (h *Handler) own(origin string) bool {
	return strings.EqualFold(origin, h.base.Scheme+"://"+h.base.Host)
}

func hostOf(r *http.Request) string { return (&url.URL{Host: r.Host}).Hostname() }

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
