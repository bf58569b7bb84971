package upstream

import (
	"cmp"
	"container/list"
	"context"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/tracing"
)

const (
	defaultIdleTimeout  = 10 * time.Minute
	defaultMaxSessions  = 10_000
	defaultMaxPerTenant = 1_000
)

// Options configure a [Pool]. Dialer, Credentials and Target are required.
type Options struct {
	Dialer      *mcp.Dialer
	Credentials *credentials.Resolver
	// Target builds the connector's target, with authentication headers.
	Target func(context.Context, connectors.TenantID, connectors.Connector, []credentials.Header) (mcp.Target, error)
	// AcquireSlot reserves a slot for a session until release. It calls full before it waits; ofTenant: the tenant has
	// as many as one may have. nil: no limit.
	AcquireSlot func(_ context.Context, _ connectors.TenantID, _ connectors.Connector, full func(ofTenant bool)) (release func(), err error)

	Store        *store.Store     // for RecheckConnector, and uses that wait while the database is away; nil: none wait
	Log          *slog.Logger     // nil: discarded
	Now          func() time.Time // nil: time.Now
	IdleTimeout  time.Duration    // idle time before a session ends; 0: 10 minutes
	MaxSessions  int              // open sessions; 0: 10 000
	MaxPerTenant int              // open sessions of one tenant; 0: 1 000
}

// Pool keeps open sessions. It is safe for concurrent use.
type Pool struct {
	o Options

	mu              sync.Mutex // guards the fields below, and fields of entries
	stopped         bool
	sessions        map[sessionKey]*entry
	perTenant       map[connectors.TenantID]int    // number in sessions
	live            map[*entry]struct{}            // sessions, and retired ones that are not closed yet
	slotWaiters     map[connectors.TenantID]int    // openings that wait for a slot of a tenant; zero: for one of any
	forcedRevisions map[sessionKey]int             // revisions of forced tokens that have not served yet
	stateless       map[connectors.ConnectorID]int // versions of connectors to servers without state
	idle            list.List                      // idle sessions, longest idle first
	sweepTimer      *time.Timer                    // nil: no sweep is due
	closing         []*entry                       // idle sessions to close
	closers         int
	liveSessions    sync.WaitGroup // one for each of live; Add only under mu and while not stopped
	background      sync.WaitGroup // goroutines; they start only while a session is live
	cache           credentialCache
}

// New makes a Pool.
func New(o Options) *Pool {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.IdleTimeout = cmp.Or(o.IdleTimeout, defaultIdleTimeout)
	o.MaxSessions, o.MaxPerTenant = cmp.Or(o.MaxSessions, defaultMaxSessions), cmp.Or(o.MaxPerTenant, defaultMaxPerTenant)
	return &Pool{o: o, sessions: map[sessionKey]*entry{}, perTenant: map[connectors.TenantID]int{}, live: map[*entry]struct{}{}, forcedRevisions: map[sessionKey]int{}, stateless: map[connectors.ConnectorID]int{}, slotWaiters: map[connectors.TenantID]int{}, cache: credentialCache{byKey: map[credentialKey]cachedCredential{}}}
}

// SessionRequest describes the session that a use needs.
type SessionRequest struct {
	Tenant    connectors.TenantID
	Connector connectors.Connector
	// Account is the one that the use is for: its Agent's only account, or the named one. Agent nil: shared accounts only.
	Account credentials.Account
	Caller  connectors.Caller // which managed accounts the use may have
	// Pinned is the account that earlier requests of the same call used: no other one is. Zero: none did.
	Pinned connectors.CredentialID
	// ByID looks Pinned up by its id, also if Account names another one by now.
	ByID bool
	// Capabilities are those of the client, a JSON object; empty: none. They are part of the session's key,
	// because initialize sends them once (2025-11-25).
	Capabilities string
	// PerAgent reserves the session for the agent, even with a shared credential: server requests on a shared
	// stream name no call. The connector's SessionPerAgent does so where the server keeps state for a session.
	PerAgent bool
	// Resume is the token of the server's session that the use needs ([mcp.Session.Token]); empty: any.
	Resume string
	// Sent, if set, receives the credential before the request is sent; nil: none.
	OnCredential **credentials.Credential
	// Retryable allows do to run twice.
	Retryable bool
	// Wait lets the use wait for its credential while the database is away; nil: it fails at once.
	Wait *store.WaitBudget
}

// withoutUseFields is w without the fields of one use.
func (w *SessionRequest) withoutUseFields() SessionRequest {
	stored := *w
	stored.OnCredential, stored.Wait = nil, nil
	if !stored.ByID {
		stored.Pinned = connectors.CredentialID{}
	}
	return stored
}

// Use runs do with the requested session, and opens it if needed. do must not keep the session. After a 401 the
// token is refreshed, once for each version, and do runs again: the server has not processed the request. do
// also runs again if it is safe and the session was lost, broke or was ended, and if it has not run yet. Errors
// are those of do, mcp and credentials, and Unavailable beyond the limits.
func (p *Pool) Use(ctx context.Context, w SessionRequest, do func(*mcp.Session) error) error {
	ran, canRetry, err := p.useOnce(ctx, &w, do)
	if !ran && w.Wait != nil && store.IsDatabaseUnavailable(err) && p.waitForDatabase(ctx, w.Wait, err) {
		ran, canRetry, err = p.useOnce(ctx, &w, do)
	}
	if canRetry && (w.Retryable || !ran || isUnauthorized(err)) && ctx.Err() == nil { // with the same account if it ran
		_, _, err = p.useOnce(ctx, &w, do)
	}
	return err
}

// waitForDatabase waits for the database, and reports whether it is back.
func (p *Pool) waitForDatabase(ctx context.Context, wait *store.WaitBudget, err error) bool {
	return p.o.Store.Retry(ctx, wait, func(context.Context) error {
		lastErr := err
		err = nil
		return lastErr
	}) == nil
}

// useOnce is one try of Use. ran: do ran. canRetry: the cause of the failure is fixed.
func (p *Pool) useOnce(ctx context.Context, w *SessionRequest, do func(*mcp.Session) error) (ran, canRetry bool, err error) {
	u, err := p.resolveCredential(ctx, w)
	if err != nil {
		return false, false, err
	}
	if w.OnCredential != nil {
		*w.OnCredential = u
	}
	e, err := p.acquireEntry(ctx, w, u)
	if err != nil {
		return false, false, err
	}
	defer func() { p.releaseEntry(e, ran && err == nil) }()
	session, err := e.waitOpen(ctx)
	if err == nil {
		if u != nil {
			w.Pinned = u.ID
		}
		ran, err = true, do(session)
	}
	if err == nil {
		return ran, false, nil
	}
	canRetry, err = p.prepareRetry(ctx, w, u, e, err)
	return ran, canRetry, err
}

// Resolve returns the credential that a use would send; nil: the connector needs none. Without a usable one it
// returns the reason, and ends the sessions of the last one.
func (p *Pool) Resolve(ctx context.Context, w SessionRequest) (*credentials.Credential, error) {
	return p.resolveCredential(ctx, &w)
}

func (p *Pool) resolveCredential(ctx context.Context, w *SessionRequest) (*credentials.Credential, error) {
	if w.Connector.Auth.Type == connectors.AuthNone {
		return nil, nil
	}
	u, err := p.resolveCurrent(ctx, newCredentialKey(w), w)
	if err == nil && u != nil && w.Pinned != (connectors.CredentialID{}) && u.ID != w.Pinned {
		return nil, credentials.NewAccountChanged(w.Connector)
	}
	return u, err
}

// resolveCurrent returns the account that a new call would use.
func (p *Pool) resolveCurrent(ctx context.Context, key credentialKey, w *SessionRequest) (*credentials.Credential, error) {
	if u, _, ok := p.findCredential(key, w); ok {
		return u, u.CheckCaller(w.Caller)
	}
	if w.Wait == nil {
		return p.readCredential(ctx, key, w)
	}
	return p.readCredentialWaiting(ctx, key, w)
}

// readCredentialWaiting waits while the database is away.
func (p *Pool) readCredentialWaiting(ctx context.Context, key credentialKey, w *SessionRequest) (u *credentials.Credential, err error) {
	err = p.o.Store.RetryUnqueued(ctx, w.Wait, func(ctx context.Context) error { // an authorization server may also be requested
		u, err = p.readCredential(ctx, key, w)
		return err
	})
	return u, err
}

// readCredential resolves a credential, unless it was cached meanwhile.
func (p *Pool) readCredential(ctx context.Context, key credentialKey, w *SessionRequest) (*credentials.Credential, error) {
	u, generation, ok := p.findCredential(key, w)
	if ok {
		return u, u.CheckCaller(w.Caller)
	}
	ctx, span := tracing.Child(ctx, "credential")
	defer span.End()
	u, err := p.resolveAccount(ctx, w)
	if err == nil && u != nil {
		p.cacheCredential(key, w, u, generation)
		return u, u.CheckCaller(w.Caller) // a refresh may have returned another account
	}
	if err != nil {
		span.Fail("unavailable")
		return nil, err
	}
	span.Fail("missing")
	p.abortSessions(func(e *entry) bool { return e.key.credentialKey == key })
	if w.ByID {
		if err := p.o.Credentials.ExplainByID(ctx, w.Tenant, w.Connector, w.Pinned, w.Account.Agent); !fault.Is(err, fault.NotFound) {
			return nil, err
		}
		return nil, credentials.NewAccountChanged(w.Connector)
	}
	return nil, p.o.Credentials.ExplainMissing(ctx, w.Tenant, w.Connector, w.Account)
}

func (p *Pool) resolveAccount(ctx context.Context, w *SessionRequest) (*credentials.Credential, error) {
	if w.ByID {
		return p.o.Credentials.ResolveByID(ctx, w.Tenant, w.Connector, w.Pinned, w.Account.Agent, w.Caller)
	}
	return p.o.Credentials.ResolveFor(ctx, w.Tenant, w.Connector, w.Account, w.Caller)
}

// Stop refuses new uses, and ends all sessions. Requests may finish until ctx is done, then they are aborted.
// It returns at most three seconds later.
func (p *Pool) Stop(ctx context.Context) {
	p.retireAll()
	closed := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(closed)
		p.liveSessions.Wait()
		p.background.Wait()
	})
	select {
	case <-closed:
	case <-ctx.Done():
		p.abortSessions(func(*entry) bool { return true })
		<-closed // bounded by mcp.Session.Close
	}
}

// retireAll retires all sessions and refuses new ones.
func (p *Pool) retireAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.sweepTimer != nil {
		p.sweepTimer.Stop()
	}
	for _, e := range p.sessions {
		p.retireEntry(e, false)
	}
}

func newStoppedError() error {
	return fault.Errorf(fault.Unavailable, "Patchbay is stopping. Try again in a moment.")
}

// Sessions is the number of sessions, with those that are opening or closing.
func (p *Pool) Sessions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.live)
}
