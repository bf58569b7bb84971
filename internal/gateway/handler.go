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

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/limit"
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
	Access  *agentview.Cache
	Caller  *toolcall.Executor
	BaseURL *url.URL // where agents reach Patchbay
	Version string   // of Patchbay
	Log     *slog.Logger
	Address func(*http.Request) netip.Addr // client address of a request, also for the call log; nil: the peer's
	// RequestID returns a request's id and sets the response header; nil: a new id for each request.
	RequestID func(answer http.Header, r *http.Request) string
	Now       func() time.Time // nil: time.Now
	// Rate is the number of requests per second for each agent; 0: unlimited. OnThrottled is called for each
	// refused request.
	Rate        int
	OnThrottled func()

	Standard bool // PATCHBAY_HTTP=standard: see serve.Options
	// AccountPageURL returns the URL where a signed-in person connects an agent's account with a name, empty for the only one; nil: none.
	AccountPageURL func(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent, account string) string
}

// Handler serves MCP to agents.
type Handler struct {
	views  *agentview.Cache
	caller *toolcall.Executor
	server *serve.Server
	router *messageRouter

	listeners      atomic.Int64 // open listener streams
	gc             gcTrigger
	logRates       logRates
	unknownTokens  *limit.Rate[netip.Addr] // failed token lookups by client address
	wrongProofs    *limit.Rate[wrongProof]
	limiter        requestLimiter
	appReads       *appReads
	store          *store.Store
	onThrottled    func()
	clientAddress  func(*http.Request) netip.Addr
	requestID      func(http.Header, *http.Request) string
	now            func() time.Time
	accountPageURL func(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent, account string) string
	log            *slog.Logger

	version string
	base    string // without a trailing slash
	origin  string // of base
	https   bool
	isLocal bool // base is on loopback
}

// New returns the handler of the gateway. Options without a log or an address get defaults.
func New(o Options) *Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Address == nil {
		o.Address = middleware.ClientAddressFunc(nil)
	}
	if o.RequestID == nil {
		o.RequestID = middleware.RequestIDFunc(nil)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Handler{
		clientAddress:  o.Address,
		requestID:      o.RequestID,
		limiter:        newRequestLimiter(float64(o.Rate)),
		unknownTokens:  newUnknownTokens(),
		wrongProofs:    newWrongProofs(),
		logRates:       newLogRates(),
		appReads:       limit.NewRecent[appRead, appKnown](maxAppReads),
		store:          o.Store,
		now:            o.Now,
		accountPageURL: o.AccountPageURL,
		views:          o.Access,
		caller:         o.Caller,
		router:         newRouter(o.Store),
		log:            o.Log,
		version:        o.Version,
		base:           strings.TrimRight(o.BaseURL.String(), "/"),
		origin:         o.BaseURL.Scheme + "://" + o.BaseURL.Host,
		https:          o.BaseURL.Scheme == "https",
		isLocal:        isLoopback(o.BaseURL.Hostname()),
	}
	h.onThrottled = o.OnThrottled
	h.server = serve.New(serve.Options{
		Origins:    func(*http.Request) bool { return true }, // isCrossOrigin has checked it
		Log:        o.Log,
		Router:     h.router,
		UseNetHTTP: o.Standard,
		BudgetKey:  func(caller string) string { return caller[:agentKeyBytes] }, // the same for all addresses of an agent
		SealSession: func(caller string, session []byte) (string, error) {
			return o.Store.SealHandle("mcp session", caller, session)
		},
		OpenSession: func(caller, id string) ([]byte, error) { return o.Store.OpenHandle("mcp session", caller, id) },
	})
	h.router.onMessage, h.router.waitingBoxes = h.server.OnMailboxMessage, h.server.WaitingBoxes
	return h
}

// HandlesPath reports whether a path is the gateway's.
func (h *Handler) HandlesPath(path string) bool {
	if rest, ok := strings.CutPrefix(path, mcpPath); ok {
		return rest == "" || rest[0] == '/'
	}
	rest, ok := strings.CutPrefix(path, metadataPath)
	return ok && (rest == "" || rest == mcpPath || strings.HasPrefix(rest, mcpPath+"/"))
}

// ServeHTTP serves the paths for which [Handler.HandlesPath] returns true.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := h.requestID(w.Header(), r)
	begun := false // the response
	defer h.recoverPanic(w, r, id, &begun)
	h.setHeaders(w.Header())
	switch {
	case strings.HasPrefix(r.URL.Path, metadataPath):
		begun = true
		h.serveMetadata(w, r, id)
	case h.isCrossOrigin(r):
		h.writeRefusal(w, r, id, fault.Errorf(fault.Denied, "Refused: sent from another site."))
	default:
		h.serveMCP(w, r, id, &begun)
	}
}

// OnNotify handles a notice of [store.Store.Watch].
func (h *Handler) OnNotify(n store.ChangeEvent) {
	h.router.onNotify(n)
	if n.Kind == store.NoticeAccount {
		h.router.wakeWaiters(accountMailbox + n.ID)
	}
}

// Connected handles the connection state of [store.Store.Watch]. When connected again, it reads messages that
// came without a notice.
func (h *Handler) Connected(connected bool) {
	if connected {
		h.router.onConnect()
	}
}

// Listeners returns the number of open listener streams in this process.
func (h *Handler) Listeners() int { return int(h.listeners.Load()) }

// CloseStreams ends all listener streams. Other requests go on.
func (h *Handler) CloseStreams() { h.server.CloseListeners() }

// Stop waits for running requests and cancels them when ctx ends.
func (h *Handler) Stop(ctx context.Context) {
	h.server.Stop(ctx)
	h.router.stopReads()
}

func (h *Handler) serveMCP(w http.ResponseWriter, r *http.Request, id string, begun *bool) {
	b := &backend{h: h, origin: connectors.CallOrigin{Address: h.clientAddress(r), RequestID: id}}
	if err := b.authenticate(r); err != nil {
		h.writeCallerRefusal(w, r, id, err)
		return
	}
	if wait := h.limiter.takeRequest(b.view.Tenant.ID, &b.view.Agent, b.origin.Address, h.now()); wait > 0 {
		h.writeRateLimited(w, r, wait)
		return
	}
	if err := b.useProof(r.Context()); err != nil {
		h.writeCallerRefusal(w, r, id, err)
		return
	}
	*begun = true
	h.server.Handle(w, r, callerKey(b), b)
}

// authenticate finds the agent by its token, and the connector at this address. A missing grant looks like a
// missing connector. During a database outage it waits.
func (b *backend) authenticate(r *http.Request) (err error) {
	if len(r.Header["Authorization"]) > 1 { // a proxy may have checked another one
		return fault.Errorf(fault.Malformed, "Send only one Authorization header.")
	}
	given := jws.ParseAuthorization(r.Header.Get("Authorization"))
	text := secret.Text(given.Token)
	if text.Empty() {
		return fault.Errorf(fault.Unauthenticated, "Send an agent token as Authorization: Bearer pb_agent_….")
	}
	b.wait = store.WaitBudget{From: middleware.ClientNetwork(b.origin.Address)}
	if err := b.loadToken(r.Context(), text); err != nil {
		return err
	}
	if b.proof, err = b.verifyProof(r, given); err != nil {
		return err
	}
	if b.token.Resource != "" && b.token.Resource != mcpAddress(r.URL.Path) {
		return fault.Errorf(fault.Unauthenticated, "This token is for another address of the gateway. Sign in for this one.")
	}
	slug, ok := parseSlug(r.URL.Path)
	if b.connectorSlug = slug; slug != "" {
		b.connector = b.view.Connector(slug)
		ok = b.connector != nil && !b.connector.PermitsNothing()
	}
	if !ok {
		return b.newUngrantedError(slug)
	}
	return nil
}

// verifyProof verifies the proof of a bound token. Wrong ones are limited.
func (b *backend) verifyProof(r *http.Request, given jws.PresentedToken) (*jws.Proof, error) {
	h, sender := b.h, wrongProof{middleware.ClientNetwork(b.origin.Address), b.token.ID}
	if given.Proves {
		if wait := h.wrongProofs.Wait(sender, h.now()); wait > 0 {
			return nil, newWrongProofLimit(wait)
		}
	}
	proof, err := given.Verify(b.token.Key, r, h.base+r.URL.EscapedPath(), h.now())
	if err != nil && given.Proves {
		h.wrongProofs.Charge(sender, h.now())
	}
	return proof, err
}

// loadToken loads the view of a token's agent. It queries no token for an address with too many unknown tokens.
func (b *backend) loadToken(ctx context.Context, text secret.Text) (err error) {
	h, queried := b.h, false
	b.view, b.token, err = h.views.ByTokenWith(ctx, text, agentview.TokenOptions{Wait: &b.wait, AllowQuery: func() error {
		queried = true
		if wait := h.unknownTokens.Wait(middleware.ClientNetwork(b.origin.Address), h.now()); wait > 0 {
			return newUnknownTokenLimit(wait)
		}
		return nil
	}})
	if queried && fault.Is(err, fault.Unauthenticated) {
		h.unknownTokens.Charge(middleware.ClientNetwork(b.origin.Address), h.now())
	}
	return err
}

// useProof records the use of the request's proof, and refuses one that any process has seen before.
func (b *backend) useProof(ctx context.Context) error {
	if b.proof == nil {
		return nil
	}
	return b.h.store.Retry(ctx, &b.wait, func(ctx context.Context) error {
		first, err := b.h.store.Tenant(b.token.Tenant).Workloads().UseProof(ctx, b.proof.ID[:], b.proof.ExpiresAt)
		if err == nil && !first {
			err = jws.NewUsedError()
		}
		return err
	})
}

// agentKeyBytes is the length of the tenant and agent ids in a callerKey.
const agentKeyBytes = 2 * len(connectors.AgentID{}.UUID)

// callerKey identifies a caller for package serve: tenant, agent and connector.
func callerKey(b *backend) string {
	var ids [agentKeyBytes]byte
	copy(ids[:], b.view.Tenant.ID.UUID[:])
	copy(ids[len(ids)/2:], b.view.Agent.ID.UUID[:])
	return string(ids[:]) + b.connectorSlug
}

// recoverPanic answers a request that panicked before its response began, and aborts the connection otherwise.
// It logs neither request nor response data.
func (h *Handler) recoverPanic(w http.ResponseWriter, r *http.Request, id string, begun *bool) {
	v := recover()
	switch v {
	case nil:
		return
	case http.ErrAbortHandler:
		panic(v)
	}
	caught := safe.CaughtBy(h.log, safe.Handler, v, slog.String("request_id", id))
	if *begun {
		panic(http.ErrAbortHandler) // a truncated response must not look complete
	}
	h.writeRefusal(w, r, id, caught)
}
