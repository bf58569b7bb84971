package agentview

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Token is the verified token of a request. LastUsedAt is its value at the first use in this process.
type Token struct {
	connectors.AgentToken
	Tenant   connectors.TenantID
	Resource string // the only gateway path that it opens; empty: all
	Key      string // thumbprint of the key that it is bound to (RFC 9449); empty: none
}

// tokenEntry is a cached verified token.
type tokenEntry struct {
	token        Token
	entry        *agentEntry
	stamp        readStamp
	lastRecorded atomic.Int64 // last recorded use, in Unix seconds
}

// ByToken returns the view of a token's agent. The error is an Unauthenticated fault if the token is unknown,
// revoked or expired, or the agent disabled. A cached token costs a hash and two map lookups.
func (c *Cache) ByToken(ctx context.Context, text secret.Text) (*View, *Token, error) {
	return c.ByTokenWith(ctx, text, TokenOptions{})
}

// TokenOptions control database queries for a token. The zero value queries at once and does not wait.
type TokenOptions struct {
	AllowQuery func() error      // called before a query; its error is returned. nil: always allowed
	Wait       *store.WaitBudget // for a database outage; its Tenant is set once known. nil: no wait
}

// ByTokenWith is [Cache.ByToken] with options.
func (c *Cache) ByTokenWith(ctx context.Context, text secret.Text, o TokenOptions) (*View, *Token, error) {
	for {
		waited := o.Wait.Spent()
		v, e, err := c.lookUp(ctx, text, o)
		if err != nil {
			return nil, nil, err
		}
		if o.Wait.Spent() == waited { // else the token may have expired during the wait
			return v, &e.token, nil
		}
	}
}

func (c *Cache) lookUp(ctx context.Context, text secret.Text, o TokenOptions) (*View, *tokenEntry, error) {
	var usual [128]byte // longer than a token, so the sum needs no allocation
	now, sum := c.now(), sha256.Sum256(append(usual[:0], text.Reveal()...))
	e := c.cachedToken(sum)
	if e != nil && o.Wait != nil {
		o.Wait.Tenant = e.token.Tenant
	}
	if e == nil || !c.isFresh(e.stamp, now) {
		var err error
		if e, err = c.loadToken(ctx, text, sum, o); err != nil {
			return nil, nil, err
		}
		now = c.now()
	}
	if expires := e.token.ExpiresAt; expires != nil && !expires.After(now) {
		return nil, nil, newTokenError("Token expired.")
	}
	v, err := c.loadView(ctx, e.entry, o.Wait)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil, newTokenError("This token's agent no longer exists.")
	case err != nil:
		return nil, nil, err
	case !v.Agent.Enabled:
		return nil, nil, newTokenError("This token's agent is disabled.")
	}
	c.markUsed(e, now)
	return v, e, nil
}

// cachedToken returns the entry of a verified token, fresh or not; nil if there is none.
func (c *Cache) cachedToken(sum [sha256.Size]byte) *tokenEntry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.tokens[sum]
}

func newTokenError(sentence string) error { return fault.Errorf(fault.Unauthenticated, "%s", sentence) }

// loadToken queries a token, and caches it unless a revocation came in between.
func (c *Cache) loadToken(ctx context.Context, text secret.Text, sum [sha256.Size]byte, o TokenOptions) (*tokenEntry, error) {
	bearer, ok := secret.ParseBearer(secret.AgentBearer, text)
	switch {
	case !ok && secret.IsBearer(secret.KeyBearer, text):
		return nil, newTokenError("Use a gateway token (pb_agent_…), not an API key.")
	case !ok:
		return nil, newTokenError("Not a complete gateway token (pb_agent_…).")
	case c.unknownTokens.has(sum, c.now()):
		return nil, newUnknownTokenError()
	}
	if o.AllowQuery != nil {
		if err := o.AllowQuery(); err != nil {
			return nil, err
		}
	}
	var e *tokenEntry
	err := c.store.Retry(ctx, o.Wait, func(ctx context.Context) (err error) {
		if e = c.cachedToken(sum); e != nil && c.isFresh(e.stamp, c.now()) { // another waiting request read it
			return nil
		}
		e, err = c.readToken(ctx, bearer, sum)
		return err
	})
	if err != nil {
		return nil, err
	}
	if o.Wait != nil {
		o.Wait.Tenant = e.token.Tenant
	}
	return e, nil
}

func (c *Cache) readToken(ctx context.Context, bearer secret.Bearer, sum [sha256.Size]byte) (*tokenEntry, error) {
	revoked, stamp := c.countRevocations(), c.newReadStamp()
	stored, err := c.queryToken(ctx, connectors.AgentTokenID{UUID: bearer.ID})
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("find agent token: %w", err)
	}
	if err == nil {
		err = c.store.VerifyBearer(ctx, bearer.Bound(stored.Key), stored.SecretMAC)
	}
	switch {
	case store.IsDatabaseUnavailable(err): // the key that signed it may not be loaded yet
		return nil, fmt.Errorf("verify agent token: %w", err)
	case err != nil:
		c.unknownTokens.add(sum, c.now())
		return nil, newUnknownTokenError()
	}
	e := &tokenEntry{
		token: Token{AgentToken: stored.Token, Tenant: stored.Tenant, Resource: stored.Resource, Key: stored.Key}, stamp: stamp,
		entry: c.ensureEntry(stored.Tenant, stored.Token.AgentID),
	}
	if used := stored.Token.LastUsedAt; used != nil {
		e.lastRecorded.Store(used.Unix())
	}
	c.storeToken(e, sum, revoked)
	return e, nil
}

func newUnknownTokenError() error { return newTokenError("Unknown or revoked token.") }

// queryToken reads a token within maxTokenQueries, so that unknown tokens cannot use up the connection pool.
func (c *Cache) queryToken(ctx context.Context, id connectors.AgentTokenID) (store.StoredAgentToken, error) {
	select {
	case c.tokenQuerySlots <- struct{}{}:
		defer func() { <-c.tokenQuerySlots }()
	case <-ctx.Done():
		return store.StoredAgentToken{}, ctx.Err()
	}
	return c.store.System().Sessions().AgentToken(ctx, id)
}

func (c *Cache) countRevocations() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.revocations
}

func (c *Cache) storeToken(e *tokenEntry, sum [sha256.Size]byte, revoked uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.revocations != revoked {
		return // it may be the revoked one
	}
	if len(c.tokens) >= maxCached {
		for sum, old := range c.tokens { // evicts an arbitrary token; it costs one query to come back
			c.forgetToken(old.token.ID, sum)
			break
		}
	}
	c.tokens[sum] = e
	c.tokenHashesByID[e.token.ID] = sum
}

func (c *Cache) forgetToken(id connectors.AgentTokenID, sum [sha256.Size]byte) {
	delete(c.tokens, sum)
	delete(c.tokenHashesByID, id)
}

// markUsed queues the recording of a use, at most once a minute, without waiting. It is dropped when the queue
// is full.
func (c *Cache) markUsed(e *tokenEntry, now time.Time) {
	last := e.lastRecorded.Load()
	if now.Unix()-last < 60 || !e.lastRecorded.CompareAndSwap(last, now.Unix()) {
		return
	}
	select {
	case c.usedTokens <- e.token.ID:
	default:
	}
}
