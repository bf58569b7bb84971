package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/middleware"
	"patchbay/internal/safe"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// Options configure a [Handler]. Store, Access, Caller and BaseURL are required.
type Options struct {
	Store   *store.Store
	Access  *access.Keeper
	Caller  *toolcall.Caller
	BaseURL *url.URL // where agents reach Patchbay
	Version string   // ours
	Log     *slog.Logger
	Address func(*http.Request) netip.Addr // where a request comes from, also for the history; nil: from the other end of its connection
	// Name names a request and says so in its answer's header; nil: with a name of its own each, whatever it says.
	Name func(answer http.Header, r *http.Request) string
	Now  func() time.Time // nil: time.Now
	// Rate is how many requests a second each agent may make, of whatever kind; 0: there is no limit. Throttled hears of each that is refused
	// for it; nil: nobody does.
	Rate      int
	Throttled func()
	// Page is where whoever signs in connects an account that an agent misses at a connector; nil: nowhere.
	Page func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent) string
}

// Handler serves agents.
type Handler struct {
	access *access.Keeper
	caller *toolcall.Caller
	server *serve.Server
	router *router

	listeners atomic.Int64 // agents that listen
	leftovers leftovers
	strangers strangers
	pace      pace
	throttled func()
	address   func(*http.Request) netip.Addr
	name      func(http.Header, *http.Request) string
	now       func() time.Time
	page      func(context.Context, connectors.TenantID, connectors.Connector, connectors.Agent) string
	log       *slog.Logger

	version string
	base    string // without a slash at the end
	origin  string // of base
	https   bool
	local   bool // base is on this machine
}

// New makes a Handler.
func New(o Options) *Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Address == nil {
		o.Address = middleware.AddressOf(nil)
	}
	if o.Name == nil {
		o.Name = middleware.NameRequest(nil)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Handler{
		address: o.Address,
		name:    o.Name,
		pace:    pace{perSecond: float64(o.Rate)},
		now:     o.Now,
		page:    o.Page,
		access:  o.Access,
		caller:  o.Caller,
		router:  newRouter(o.Store),
		log:     o.Log,
		version: o.Version,
		base:    strings.TrimRight(o.BaseURL.String(), "/"),
		origin:  o.BaseURL.Scheme + "://" + o.BaseURL.Host,
		https:   o.BaseURL.Scheme == "https",
		local:   loopback(o.BaseURL.Hostname()),
	}
	h.throttled = o.Throttled
	h.server = serve.New(serve.Options{
		Origins: func(*http.Request) bool { return true }, // foreign has looked
		Log:     o.Log,
		Router:  h.router,
		Payer:   func(who string) string { return who[:agentBytes] }, // at whichever of its addresses
		SealSession: func(who string, session []byte) (string, error) {
			return o.Store.SealHandle("mcp session", who, session)
		},
		OpenSession: func(who, id string) ([]byte, error) { return o.Store.OpenHandle("mcp session", who, id) },
	})
	h.router.arrived = h.server.Arrived
	return h
}

// Serves tells whether a path is the gateway's.
func (h *Handler) Serves(path string) bool {
	if rest, ok := strings.CutPrefix(path, aggregated); ok {
		return rest == "" || rest[0] == '/'
	}
	rest, ok := strings.CutPrefix(path, metadataPath)
	return ok && (rest == "" || rest == aggregated || strings.HasPrefix(rest, aggregated+"/"))
}

// ServeHTTP answers what [Handler.Serves] is true for.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := h.name(w.Header(), r)
	begun := false // to answer
	defer h.recovered(w, r, id, &begun)
	h.setHeaders(w.Header())
	switch {
	case strings.HasPrefix(r.URL.Path, metadataPath):
		begun = true
		h.metadata(w, r, id)
	case h.foreign(r):
		h.refuse(w, r, id, fault.Errorf(fault.Denied, "This was sent from a page of another site, and is refused."))
	default:
		h.serve(w, r, id, &begun)
	}
}

// Hear takes a notice of [store.Store.Watch].
func (h *Handler) Hear(n store.Notice) {
	h.router.hear(n)
	if n.Kind == store.NoticeAccount {
		h.router.poke(accountBox + n.ID)
	}
}

// Listeners is how many agents listen to changes in this process.
func (h *Handler) Listeners() int { return int(h.listeners.Load()) }

// Shut ends the streams of those who listen. Requests go on.
func (h *Handler) Shut() { h.server.Shut() }

// Stop waits for the requests that are under way, and ends them when ctx does.
func (h *Handler) Stop(ctx context.Context) { h.server.Stop(ctx) }

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, id string, begun *bool) {
	b := &backend{h: h, from: connectors.CallOrigin{Address: h.address(r), RequestID: id}}
	if err := b.authenticate(r); err != nil {
		h.refuseCaller(w, r, id, err)
		return
	}
	if wait := h.pace.wait(b.view.Tenant.ID, &b.view.Agent, b.from.Address, h.now()); wait > 0 {
		h.tooSoon(w, r, wait)
		return
	}
	*begun = true
	h.server.Handle(w, r, who(b), b)
}

// authenticate finds the agent by its token, and what it may reach at this address. A connector that the agent was not granted is as
// unknown as one that there is not. While the database is away it waits.
func (b *backend) authenticate(r *http.Request) (err error) {
	if len(r.Header["Authorization"]) > 1 { // a proxy in front may have judged another than we would
		return fault.Errorf(fault.Malformed, "The request has several Authorization headers. Send one.")
	}
	text := bearer(r)
	if text.Empty() {
		return fault.Errorf(fault.Unauthenticated, "An agent's token is needed: send it as Authorization: Bearer pb_agent_….")
	}
	b.wait = store.WaitBudget{From: middleware.Network(b.from.Address)}
	if err := b.recognise(r.Context(), text); err != nil {
		return err
	}
	if b.token.Resource != "" && b.token.Resource != mcpAddress(r.URL.Path) {
		return fault.Errorf(fault.Unauthenticated, "This token is for another address of the gateway. Sign in for this one.")
	}
	slug, ok := slugOf(r.URL.Path)
	if b.slug = slug; slug != "" {
		b.reach = b.view.Reach(slug)
		ok = b.reach != nil
	}
	if !ok {
		return fault.Errorf(fault.NotFound, "This agent has no such connector. Ask for it to be granted, or enabled.")
	}
	return nil
}

// recognise finds the agent of a token. Where too many came from the same address that are none, it does not look.
func (b *backend) recognise(ctx context.Context, text secret.Text) (err error) {
	h, asked := b.h, false
	b.view, b.token, err = h.access.ByTokenAsking(ctx, text, access.Asking{Wait: &b.wait, MayAsk: func() error {
		asked = true
		if wait := h.strangers.wait(b.from.Address, h.now()); wait > 0 {
			return tooManyStrangers(wait)
		}
		return nil
	}})
	if asked && fault.Is(err, fault.Unauthenticated) {
		h.strangers.note(b.from.Address, h.now())
	}
	return err
}

// bearer reads the token that a request brings (RFC 6750 §2.1); empty: none.
func bearer(r *http.Request) secret.Text {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret.Text(strings.TrimSpace(token))
}

// agentBytes is how long the part of who is that names the agent.
const agentBytes = 2 * len(connectors.AgentID{}.UUID)

// who names a caller at an address towards mcp/serve: its tenant, itself, and the connector.
func who(b *backend) string {
	var ids [agentBytes]byte
	copy(ids[:], b.view.Tenant.ID.UUID[:])
	copy(ids[len(ids)/2:], b.view.Agent.ID.UUID[:])
	return string(ids[:]) + b.slug
}

// recovered answers a request whose handler panicked before it answered, and cuts the connection of any other. It logs neither what the
// request brought nor what it was answered.
func (h *Handler) recovered(w http.ResponseWriter, r *http.Request, id string, begun *bool) {
	v := recover()
	switch v {
	case nil:
		return
	case http.ErrAbortHandler:
		panic(v)
	}
	caught := safe.CaughtBy(h.log, safe.Handler, v, slog.String("request_id", id))
	if *begun {
		panic(http.ErrAbortHandler) // half an answer must not look whole
	}
	h.refuse(w, r, id, caught)
}
