package toolcall

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
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
	synced map[serverKey]time.Time
	failed map[serverKey]failedSync
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
	if d.o.Resync == nil || maxAge == 0 || a.isMultiRound() || !isDestructive(a.request.Tool) || d.isYoungerThan(a, maxAge) {
		return nil
	}
	agent := d.findSyncAgent(ctx, a)
	err := d.o.Store.RetryUnqueued(ctx, a.request.Wait, func(ctx context.Context) error { return d.resyncTools(ctx, a, agent, maxAge) })
	if err != nil {
		return a.staleDefinitionRefusal(err)
	}
	return d.authorizer.recheckTool(ctx, a)
}

// findSyncAgent returns the call's agent if the sync before the call is to use its account; nil: the account for syncs. A sync requests no
// token that names a member (token exchange), so the account for syncs may have none while the call has one.
func (d *definitionAges) findSyncAgent(ctx context.Context, a *activeCall) *connectors.AgentID {
	c, view := a.connector.Connector, a.request.View
	if c.OAuth.TokenExchange == "" {
		return nil
	}
	if _, err := d.sender.pool.Resolve(ctx, d.sender.sessionRequest(a)); err != nil {
		return nil // the call fails for the same reason
	}
	if found, err := d.o.Credentials.ResolveForSync(ctx, view.Tenant.ID, c); err == nil && found != nil {
		return nil
	}
	return &view.Agent.ID
}

func (a *activeCall) serverKey() serverKey {
	return serverKey{a.request.View.Tenant.ID, a.connector.Connector.ID}
}

// isYoungerThan reports whether memory shows a sync within maxAge.
func (d *definitionAges) isYoungerThan(a *activeCall, maxAge time.Duration) bool {
	now := d.o.Now()
	if syncedAt := a.connector.Connector.ToolsLastSyncedAt; syncedAt != nil && now.Sub(*syncedAt) < maxAge {
		return true
	}
	d.syncTimes.mu.Lock()
	defer d.syncTimes.mu.Unlock()
	syncedAt, known := d.syncTimes.synced[a.serverKey()]
	return known && now.Sub(syncedAt) < maxAge
}

// resyncTools syncs the tools, unless another process has. Concurrent calls share one sync, which continues if
// one of them is cancelled.
func (d *definitionAges) resyncTools(ctx context.Context, a *activeCall, agent *connectors.AgentID, maxAge time.Duration) error {
	s := a.serverKey()
	loaded := d.syncTimes.loads.DoChan(s.tenant.String()+s.connector.String(), func() (_ any, err error) {
		defer safe.RecoverTo(safe.Call, &err)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resyncTimeout)
		defer cancel()
		return nil, d.resyncIfStale(ctx, s, agent, maxAge)
	})
	select {
	case <-ctx.Done():
		return ctx.Err()
	case result := <-loaded:
		return result.Err
	}
}

func (d *definitionAges) resyncIfStale(ctx context.Context, s serverKey, agent *connectors.AgentID, maxAge time.Duration) error {
	syncedAt, err := d.o.Store.Tenant(s.tenant).Tools().SyncedAt(ctx, s.connector)
	if err != nil {
		return err
	}
	if d.o.Now().Sub(syncedAt) < maxAge {
		d.syncTimes.recordSync(s, syncedAt)
		return nil
	}
	if err := d.syncTimes.recentFailure(s, d.o.Now()); err != nil {
		return err
	}
	start := d.o.Now()
	if err := d.o.Resync(ctx, s.tenant, s.connector, agent); err != nil {
		if !store.IsDatabaseUnavailable(err) { // after an outage the sync is repeated at once
			d.syncTimes.recordFailure(s, d.o.Now(), err)
		}
		return err
	}
	d.syncTimes.recordSync(s, start)
	return nil
}

func (t *syncTimes) recordSync(s serverKey, syncedAt time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.synced == nil || len(t.synced) >= maxSyncTimes {
		t.synced = map[serverKey]time.Time{}
	}
	t.synced[s] = syncedAt
	delete(t.failed, s)
}

func (t *syncTimes) recordFailure(s serverKey, failedAt time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil || len(t.failed) >= maxSyncTimes {
		t.failed = map[serverKey]failedSync{}
	}
	t.failed[s] = failedSync{at: failedAt, err: err}
}

// recentFailure is the error of a sync within failedSyncTTL; nil: none.
func (t *syncTimes) recentFailure(s serverKey, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f, failed := t.failed[s]; failed && now.Sub(f.at) < failedSyncTTL {
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
