package credentials

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	// maxIdleWorkers bounds the authorization servers requested at once. Each gets one request at a time.
	maxIdleWorkers = 8
	// idlePageSize is the number of accounts in one query.
	idlePageSize = 500
	// maxIdleFailures is the number of consecutive failures after which the rest of a server's accounts waits
	// for a later run.
	maxIdleFailures = 3
)

// IdleReport is the result of [Resolver.RefreshIdle].
type IdleReport struct {
	Refreshed int
	Failed    int  // retried after an hour
	Ended     int  // a person must reconnect them
	Postponed int  // left to a later run: their authorization server fails
	More      bool // the limit was reached
}

// RefreshIdle refreshes accounts that were not used for a day, before they expire unused. It starts no refresh
// after limit. Failures are handled as in any refresh. Several processes may run it: leases prevent double
// requests.
func (r *Resolver) RefreshIdle(ctx context.Context, limit time.Duration) (IdleReport, error) {
	if r.oauth == nil {
		return IdleReport{}, nil
	}
	run := &idleRun{Resolver: r, deadline: time.Now().Add(limit)}
	var after *store.IdleGrant
	for {
		page, err := r.store.System().IdleGrants(ctx, after, idlePageSize)
		if err != nil {
			return run.report, fmt.Errorf("list idle accounts: %w", err)
		}
		if err := run.refreshPage(ctx, page); err != nil || len(page) < idlePageSize || run.report.More {
			return run.report, err
		}
		after = &page[len(page)-1]
	}
}

type idleRun struct {
	*Resolver
	deadline time.Time

	mu     sync.Mutex
	report IdleReport // guarded by mu while workers run
}

// refreshPage refreshes a page of accounts, with one worker for each authorization server.
func (r *idleRun) refreshPage(ctx context.Context, grants []store.IdleGrant) error {
	slices.SortStableFunc(grants, func(a, b store.IdleGrant) int { return cmp.Compare(a.Issuer, b.Issuer) })
	var workers errgroup.Group
	workers.SetLimit(maxIdleWorkers)
	for len(grants) > 0 {
		n := slices.IndexFunc(grants, func(g store.IdleGrant) bool { return g.Issuer != grants[0].Issuer })
		if n < 0 {
			n = len(grants)
		}
		ofIssuer := grants[:n]
		grants = grants[n:]
		workers.Go(safe.Try(safe.Task, func() error {
			r.refreshIssuer(ctx, ofIssuer)
			return nil
		}))
	}
	_ = workers.Wait() // a worker fails only by a panic, which is reported
	return ctx.Err()
}

func (r *idleRun) refreshIssuer(ctx context.Context, grants []store.IdleGrant) {
	failures := 0
	for i, g := range grants {
		if ctx.Err() != nil || !time.Now().Before(r.deadline) {
			r.updateReport(func(report *IdleReport) { report.More = true })
			return
		}
		if failures == maxIdleFailures {
			r.updateReport(func(report *IdleReport) { report.Postponed += len(grants) - i })
			return
		}
		switch r.refreshAccount(ctx, g) {
		case idleRefreshed:
			failures = 0
			r.updateReport(func(report *IdleReport) { report.Refreshed++ })
		case idleEnded:
			failures = 0
			r.updateReport(func(report *IdleReport) { report.Ended++ })
		case idleFailed:
			failures++
			r.updateReport(func(report *IdleReport) { report.Failed++ })
		}
	}
}

func (r *idleRun) updateReport(change func(report *IdleReport)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report)
}

type idleOutcome int

const (
	idleSkipped idleOutcome = iota // changed since the query: used, replaced or deleted
	idleRefreshed
	idleFailed
	idleEnded
)

func (r *idleRun) refreshAccount(ctx context.Context, seen store.IdleGrant) idleOutcome {
	c, err := r.store.Tenant(seen.Tenant).Connectors().Get(ctx, connectors.Ref(seen.Connector.String()))
	if err != nil {
		return r.handleReadError(ctx, seen, err)
	}
	g, err := r.store.Vault(seen.Tenant).GrantByID(ctx, seen.ID)
	if err != nil {
		return r.handleReadError(ctx, seen, err)
	}
	if g.Version != seen.Version || !c.Enabled || !isUsable(c, g.Credential) || !r.canRefresh(g) {
		return idleSkipped
	}
	fresh, err := r.refreshGrant(ctx, seen.Tenant, c, g)
	switch {
	case err != nil, fresh.Version == g.Version:
		return idleFailed
	case fresh.Status == connectors.CredentialRevoked:
		return idleEnded
	default:
		return idleRefreshed
	}
}

func (r *idleRun) handleReadError(ctx context.Context, seen store.IdleGrant, err error) idleOutcome {
	if fault.Is(err, fault.NotFound) {
		return idleSkipped
	}
	r.log.WarnContext(ctx, "idle account not read", slog.String("tenant_id", seen.Tenant.String()), slog.String("credential_id", seen.ID.String()), slog.Any("error", err))
	return idleFailed
}
