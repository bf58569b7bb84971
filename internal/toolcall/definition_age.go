package toolcall

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Before a destructive call the tool's definition must be younger than the connector's maximum age. Else a
// server could change a tool and be called under the old one's permissions. The steps:
//
//  1. the age in memory: of the view, or learned since
//  2. if too old, the age in the database: another process may have synced
//  3. if too old, a sync, shared by all waiting calls
//  4. the policy is checked again with the new definition
//
// A connector with token exchange may have no account for syncs. Then the tool alone is read with the account of the call, and must be as it
// was accepted. That is for this agent: others do not see what its account does, and wait for nothing of it.
//
// Tools that are read-only or non-destructive skip this. If the sync fails the call is refused, even of a
// trusted tool: it may have changed. A connector may set another maximum age, or none.

const (
	resyncTimeout = 30 * time.Second // a call's wait for a sync
	failedSyncTTL = 10 * time.Second // time before a failed sync is repeated
	maxSyncTimes  = 100_000          // connectors in memory
)

// definitionAges checks the age of definitions.
type definitionAges struct {
	o          *Options
	authorizer *authorizer
	sender     *callSender
	syncTimes  syncTimes
}

// syncTimes remembers when tools were last synced. The zero value works.
type syncTimes struct {
	loads singleflight.Group

	mu     sync.Mutex // guards the fields below
	synced map[checkKey]time.Time
	failed map[checkKey]failedSync
}

// checkKey is what a check of definitions is for: all tools of a server, or one definition that an agent's account sees.
type checkKey struct {
	serverKey

	agent       connectors.AgentID // zero: all
	account     connectors.CredentialID
	accountName string // by which the grant binds it; empty: it does not
	tool        string
	hash        connectors.Hash
}

func (k checkKey) String() string {
	return fmt.Sprintf("%s %s %s %s %q %q %x", k.tenant, k.connector, k.agent, k.account, k.accountName, k.tool, k.hash)
}

type failedSync struct {
	at  time.Time
	err error
}

// isDestructive reports whether a tool may be destructive, by its annotations and their defaults (MCP
// 2025-11-25, ToolAnnotations).
func isDestructive(t *agentview.Tool) bool {
	readOnly := t.Hints.ReadOnly != nil && *t.Hints.ReadOnly
	nonDestructive := t.Hints.Destructive != nil && !*t.Hints.Destructive
	return !readOnly && !nonDestructive
}

// checkDefinitionAge syncs an old definition and updates the order, or refuses the call.
func (d *definitionAges) checkDefinitionAge(ctx context.Context, a *activeCall) error {
	maxAge := a.connector.Connector.DefinitionAge
	key := checkKey{serverKey: serverKey{a.request.View.Tenant.ID, a.connector.Connector.ID}}
	if d.o.Resync == nil || maxAge == 0 || a.isMultiRound() || !isDestructive(a.request.Tool) || d.isYoungerThan(a, key, maxAge) {
		return nil
	}
	if account := d.findAgentsAccount(ctx, a); account != (connectors.CredentialID{}) {
		key.agent, key.account, key.accountName = a.request.View.Agent.ID, account, a.connector.Grant.Account()
		key.tool, key.hash = a.request.Tool.Name, a.request.Tool.Hash
		if d.isYoungerThan(a, key, maxAge) {
			return nil
		}
	}
	err := d.o.Store.RetryUnqueued(ctx, a.request.Wait, func(ctx context.Context) error { return d.resyncTools(ctx, key, maxAge) })
	if err != nil {
		return a.staleDefinitionRefusal(err)
	}
	return d.authorizer.recheckTool(ctx, a)
}

// findAgentsAccount returns the account of the call if a sync has none: no sync uses a token that names a member (token exchange). Zero: it
// has one, or the call has none.
func (d *definitionAges) findAgentsAccount(ctx context.Context, a *activeCall) connectors.CredentialID {
	c := a.connector.Connector
	if c.OAuth.TokenExchange == "" {
		return connectors.CredentialID{}
	}
	used, err := d.sender.pool.Resolve(ctx, d.sender.sessionRequest(a))
	if err != nil { // the call fails for the same reason
		return connectors.CredentialID{}
	}
	if found, err := d.o.Credentials.ResolveForSync(ctx, a.request.View.Tenant.ID, c); err == nil && found != nil {
		return connectors.CredentialID{}
	}
	return usedAccount(used)
}

// isYoungerThan reports whether memory shows a sync within maxAge.
func (d *definitionAges) isYoungerThan(a *activeCall, key checkKey, maxAge time.Duration) bool {
	now := d.o.Now()
	if syncedAt := a.connector.Connector.ToolsLastSyncedAt; syncedAt != nil && now.Sub(*syncedAt) < maxAge {
		return true
	}
	d.syncTimes.mu.Lock()
	defer d.syncTimes.mu.Unlock()
	syncedAt, known := d.syncTimes.synced[key]
	return known && now.Sub(syncedAt) < maxAge
}

// resyncTools syncs the tools, unless another process has. Concurrent calls share one sync, which continues if
// one of them is cancelled.
func (d *definitionAges) resyncTools(ctx context.Context, key checkKey, maxAge time.Duration) error {
	loaded := d.syncTimes.loads.DoChan(key.String(), func() (_ any, err error) {
		defer safe.RecoverTo(safe.Call, &err)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resyncTimeout)
		defer cancel()
		return nil, d.resyncIfStale(ctx, key, maxAge)
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case result := <-loaded:
		return result.Err
	}
}

func (d *definitionAges) resyncIfStale(ctx context.Context, key checkKey, maxAge time.Duration) error {
	syncedAt, err := d.o.Store.Tenant(key.tenant).Tools().SyncedAt(ctx, key.connector)
	if err != nil {
		return err
	}
	if d.o.Now().Sub(syncedAt) < maxAge {
		d.syncTimes.recordSync(key, syncedAt)
		return nil
	}
	if err := d.syncTimes.recentFailure(key, d.o.Now()); err != nil {
		return err
	}
	start := d.o.Now()
	if err := d.checkNow(ctx, key); err != nil {
		if !store.IsDatabaseUnavailable(err) { // after an outage the sync is repeated at once
			d.syncTimes.recordFailure(key, d.o.Now(), err)
		}
		return err
	}
	d.syncTimes.recordSync(key, start)
	return nil
}

// checkNow syncs a server's tools, or reads one with an agent's account.
func (d *definitionAges) checkNow(ctx context.Context, key checkKey) error {
	if key.agent == (connectors.AgentID{}) {
		return d.o.Resync(ctx, key.tenant, key.connector)
	}
	of := credentials.Account{Agent: &key.agent, Name: key.accountName}
	hash, err := d.o.ReadTool(ctx, key.tenant, key.connector, of, key.account, key.tool)
	if err == nil && hash != key.hash {
		err = fault.Errorf(fault.Conflict, "The server describes it differently to this agent's account.")
	}
	return err
}

func (t *syncTimes) recordSync(key checkKey, syncedAt time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.synced == nil || len(t.synced) >= maxSyncTimes {
		t.synced = map[checkKey]time.Time{}
	}
	t.synced[key] = syncedAt
	delete(t.failed, key)
}

func (t *syncTimes) recordFailure(key checkKey, failedAt time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil || len(t.failed) >= maxSyncTimes {
		t.failed = map[checkKey]failedSync{}
	}
	t.failed[key] = failedSync{at: failedAt, err: err}
}

// recentFailure is the error of a sync within failedSyncTTL; nil: none.
func (t *syncTimes) recentFailure(key checkKey, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f, failed := t.failed[key]; failed && now.Sub(f.at) < failedSyncTTL {
		return f.err
	}
	return nil
}

// staleDefinitionRefusal is the refusal after a failed sync.
func (a *activeCall) staleDefinitionRefusal(err error) error {
	reason := "Timed out."
	if f := fault.As(err); f.Kind != fault.Internal {
		reason = f.Message
	}
	return &RefusalError{Code: CodeUnavailable, RetryAfter: failedSyncTTL, Err: err, Sentence: fmt.Sprintf(
		"The tool %q of %q may be destructive, and couldn't be checked for changes: %s", a.request.Tool.Name,
		a.connector.Connector.Name, reason)}
}
