package access

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

// Token is the token with which an agent came. Its LastUsedAt is as it was when the token was first seen here.
type Token struct {
	connectors.AgentToken
	Tenant   connectors.TenantID
	Resource string // the only path at the gateway that it opens; empty: each
}

// tokenEntry is a token whose text was verified.
type tokenEntry struct {
	token   Token
	seat    *seat
	stamp   stamp
	touched atomic.Int64 // when its use was last noted, in Unix seconds
}

// ByToken is what the agent that sent a token may do. Where the token is none, is revoked or over, or its agent is disabled, the error is
// an Unauthenticated fault. When warm, it costs a hash and two look-ups in memory.
func (k *Keeper) ByToken(ctx context.Context, text secret.Text) (*View, *Token, error) {
	return k.ByTokenAsking(ctx, text, Asking{})
}

// Asking says whether and how the database is asked about a token. The zero value asks at once, and does not wait.
type Asking struct {
	MayAsk func() error      // is called before the database is asked about a token, and its error is returned; nil: it may
	Wait   *store.WaitBudget // while the database is away; it is told whose token it is. nil: there is no wait
}

// ByTokenAsking is ByToken with a choice of how the database is asked.
func (k *Keeper) ByTokenAsking(ctx context.Context, text secret.Text, o Asking) (*View, *Token, error) {
	for {
		waited := o.Wait.Spent()
		v, e, err := k.lookUp(ctx, text, o)
		if err != nil {
			return nil, nil, err
		}
		if o.Wait.Spent() == waited { // else the token may have ended while its view was waited for
			return v, &e.token, nil
		}
	}
}

// lookUp finds the token of a text, and the view of its agent.
func (k *Keeper) lookUp(ctx context.Context, text secret.Text, o Asking) (*View, *tokenEntry, error) {
	var usual [128]byte // longer than a token: it takes no memory of its own
	now, sum := k.now(), sha256.Sum256(append(usual[:0], text.Reveal()...))
	e := k.verified(sum)
	if e != nil && o.Wait != nil {
		o.Wait.Tenant = e.token.Tenant
	}
	if e == nil || !k.trusts(e.stamp, now) {
		var err error
		if e, err = k.recognise(ctx, text, sum, o); err != nil {
			return nil, nil, err
		}
		now = k.now()
	}
	if expires := e.token.ExpiresAt; expires != nil && !expires.After(now) {
		return nil, nil, badToken("This token has expired.")
	}
	v, err := k.view(ctx, e.seat, o.Wait)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil, badToken("The agent of this token is not there any more.")
	case err != nil:
		return nil, nil, err
	case !v.Agent.Enabled:
		return nil, nil, badToken("The agent of this token is disabled.")
	}
	k.touch(e, now)
	return v, e, nil
}

// verified is the entry of a token that was verified before, whether or not it is to be trusted; nil: there is none.
func (k *Keeper) verified(sum [sha256.Size]byte) *tokenEntry {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.tokens[sum]
}

func badToken(sentence string) error { return fault.Errorf(fault.Unauthenticated, "%s", sentence) }

// recognise finds the token of a text in the database, and remembers it unless tokens were revoked meanwhile.
func (k *Keeper) recognise(ctx context.Context, text secret.Text, sum [sha256.Size]byte, o Asking) (*tokenEntry, error) {
	bearer, ok := secret.ParseBearer(secret.AgentBearer, text)
	switch {
	case !ok && secret.IsBearer(secret.KeyBearer, text):
		return nil, badToken("An API key opens the API only. The gateway takes an agent's token (pb_agent_…).")
	case !ok:
		return nil, badToken("This is not a whole agent's token (pb_agent_…).")
	case k.unknown.has(sum, k.now()):
		return nil, unknownToken()
	}
	if o.MayAsk != nil {
		if err := o.MayAsk(); err != nil {
			return nil, err
		}
	}
	var e *tokenEntry
	err := k.store.Retry(ctx, o.Wait, func(ctx context.Context) (err error) {
		if e = k.verified(sum); e != nil && k.trusts(e.stamp, k.now()) { // read for another request that waited
			return nil
		}
		e, err = k.readToken(ctx, bearer, sum)
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

// readToken reads a token from the database.
func (k *Keeper) readToken(ctx context.Context, bearer secret.Bearer, sum [sha256.Size]byte) (*tokenEntry, error) {
	revoked, at := k.revocations(), k.stamp()
	stored, err := k.find(ctx, connectors.AgentTokenID{UUID: bearer.ID})
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("find agent token: %w", err)
	}
	if err == nil {
		err = k.store.VerifyBearer(ctx, bearer, stored.SecretMAC)
	}
	switch {
	case store.Away(err): // the token may be signed with a key that this process has not read yet
		return nil, fmt.Errorf("verify agent token: %w", err)
	case err != nil:
		k.unknown.add(sum, k.now())
		return nil, unknownToken()
	}
	e := &tokenEntry{
		token: Token{AgentToken: stored.Token, Tenant: stored.Tenant, Resource: stored.Resource}, stamp: at,
		seat: k.seat(stored.Tenant, stored.Token.AgentID),
	}
	if used := stored.Token.LastUsedAt; used != nil {
		e.touched.Store(used.Unix())
	}
	k.remember(e, sum, revoked)
	return e, nil
}

func unknownToken() error { return badToken("This token is not known, or was revoked.") }

// find reads a token. Few are read at a time: strangers' tokens keep no more of the database's connections from everybody else.
func (k *Keeper) find(ctx context.Context, id connectors.AgentTokenID) (store.StoredAgentToken, error) {
	select {
	case k.finding <- struct{}{}:
		defer func() { <-k.finding }()
	case <-ctx.Done():
		return store.StoredAgentToken{}, ctx.Err()
	}
	return k.store.System().AgentToken(ctx, id)
}

func (k *Keeper) revocations() uint64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.revoked
}

func (k *Keeper) remember(e *tokenEntry, sum [sha256.Size]byte, revoked uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.revoked != revoked {
		return // perhaps this one: it is asked for again next time
	}
	if len(k.tokens) >= mostEntries {
		for sum, old := range k.tokens { // any one: who still comes is back after one query
			k.forgetToken(old.token.ID, sum)
			break
		}
	}
	k.tokens[sum] = e
	k.byToken[e.token.ID] = sum
}

func (k *Keeper) forgetToken(id connectors.AgentTokenID, sum [sha256.Size]byte) {
	delete(k.tokens, sum)
	delete(k.byToken, id)
}

// touch has a token's use noted, at most once a minute, and not while its request waits. Where too many wait to be noted it is left
// out: when a token was last used is worth less than an answer.
func (k *Keeper) touch(e *tokenEntry, now time.Time) {
	last := e.touched.Load()
	if now.Unix()-last < 60 || !e.touched.CompareAndSwap(last, now.Unix()) {
		return
	}
	select {
	case k.touches <- e.token.ID:
	default:
	}
}
