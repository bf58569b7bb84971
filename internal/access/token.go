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
	return k.ByTokenAsking(ctx, text, func() error { return nil })
}

// ByTokenAsking is ByToken for a caller that may not want the database to be asked about a token: mayAsk is called before that, and its
// error is returned.
func (k *Keeper) ByTokenAsking(ctx context.Context, text secret.Text, mayAsk func() error) (*View, *Token, error) {
	var usual [128]byte // longer than a token: it takes no memory of its own
	now, sum := k.now(), sha256.Sum256(append(usual[:0], text.Reveal()...))
	k.mu.RLock()
	e := k.tokens[sum]
	k.mu.RUnlock()
	if e == nil || !k.trusts(e.stamp, now) {
		var err error
		if e, err = k.recognise(ctx, text, sum, mayAsk); err != nil {
			return nil, nil, err
		}
	}
	if expires := e.token.ExpiresAt; expires != nil && !expires.After(now) {
		return nil, nil, badToken("This token has expired.")
	}
	v, err := k.view(ctx, e.seat)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil, nil, badToken("The agent of this token is not there any more.")
	case err != nil:
		return nil, nil, err
	case !v.Agent.Enabled:
		return nil, nil, badToken("The agent of this token is disabled.")
	}
	k.touch(e, now)
	return v, &e.token, nil
}

func badToken(sentence string) error { return fault.Errorf(fault.Unauthenticated, "%s", sentence) }

// recognise finds the token of a text in the database, and remembers it unless tokens were revoked meanwhile.
func (k *Keeper) recognise(ctx context.Context, text secret.Text, sum [sha256.Size]byte, mayAsk func() error) (*tokenEntry, error) {
	bearer, ok := secret.ParseBearer(secret.AgentBearer, text)
	switch {
	case !ok && secret.IsBearer(secret.KeyBearer, text):
		return nil, badToken("An API key opens the API only. The gateway takes an agent's token (pb_agent_…).")
	case !ok:
		return nil, badToken("This is not a whole agent's token (pb_agent_…).")
	case k.unknown.has(sum, k.now()):
		return nil, unknownToken()
	}
	if err := mayAsk(); err != nil {
		return nil, err
	}
	revoked, at := k.revocations(), k.stamp()
	stored, err := k.find(ctx, connectors.AgentTokenID{UUID: bearer.ID})
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("find agent token: %w", err)
	}
	if err != nil || k.store.VerifyBearer(ctx, bearer, stored.SecretMAC) != nil {
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
