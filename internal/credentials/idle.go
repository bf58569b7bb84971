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
	// idleLanes is how many authorization servers are asked at once for accounts that nobody uses; each of them one thing at a time.
	idleLanes = 8
	// idlePage is how many accounts are read at once.
	idlePage = 500
	// idlePatience is how many failures in a row leave the rest of an authorization server's accounts to a later round.
	idlePatience = 3
)

// IdleReport is what came of a round of [Resolver.RenewIdle].
type IdleReport struct {
	Renewed int
	Failed  int  // for now: they are tried again after an hour
	Ended   int  // a person must connect them again
	Left    int  // to a later round, because their authorization server fails
	More    bool // the time was over
}

// RenewIdle renews accounts that nobody has used for a day, so that none ends for want of use. It begins no renewal when spell is over. A
// failure is one like any other: only the authorization server ends an account. Any number of processes may do it at once: the lease of
// a grant's version lets one of them ask.
func (r *Resolver) RenewIdle(ctx context.Context, spell time.Duration) (IdleReport, error) {
	if r.oauth == nil {
		return IdleReport{}, nil
	}
	round := &idleRound{Resolver: r, until: time.Now().Add(spell)}
	var after *store.IdleGrant
	for {
		page, err := r.store.System().IdleGrants(ctx, after, idlePage)
		if err != nil {
			return round.report, fmt.Errorf("list idle accounts: %w", err)
		}
		if err := round.page(ctx, page); err != nil || len(page) < idlePage || round.report.More {
			return round.report, err
		}
		after = &page[len(page)-1]
	}
}

// idleRound is one round.
type idleRound struct {
	*Resolver
	until time.Time

	mu     sync.Mutex
	report IdleReport // guarded by mu while lanes are at work
}

// page renews the accounts of each authorization server in a lane of its own.
func (r *idleRound) page(ctx context.Context, grants []store.IdleGrant) error {
	slices.SortStableFunc(grants, func(a, b store.IdleGrant) int { return cmp.Compare(a.Issuer, b.Issuer) })
	var lanes errgroup.Group
	lanes.SetLimit(idleLanes)
	for len(grants) > 0 {
		n := slices.IndexFunc(grants, func(g store.IdleGrant) bool { return g.Issuer != grants[0].Issuer })
		if n < 0 {
			n = len(grants)
		}
		lane := grants[:n]
		grants = grants[n:]
		lanes.Go(safe.Try(safe.Task, func() error {
			r.lane(ctx, lane)
			return nil
		}))
	}
	_ = lanes.Wait() // a lane fails only by a panic, which is reported
	return ctx.Err()
}

func (r *idleRound) lane(ctx context.Context, grants []store.IdleGrant) {
	failures := 0
	for i, g := range grants {
		if ctx.Err() != nil || !time.Now().Before(r.until) {
			r.note(func(report *IdleReport) { report.More = true })
			return
		}
		if failures == idlePatience {
			r.note(func(report *IdleReport) { report.Left += len(grants) - i })
			return
		}
		switch r.renew(ctx, g) {
		case idleRenewed:
			failures = 0
			r.note(func(report *IdleReport) { report.Renewed++ })
		case idleEnded:
			failures = 0
			r.note(func(report *IdleReport) { report.Ended++ })
		case idleFailed:
			failures++
			r.note(func(report *IdleReport) { report.Failed++ })
		}
	}
}

func (r *idleRound) note(change func(report *IdleReport)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.report)
}

// idleEnd is what came of one account.
type idleEnd int

const (
	idleMoved idleEnd = iota // it is not what was seen: somebody uses it, or it is gone
	idleRenewed
	idleFailed
	idleEnded
)

func (r *idleRound) renew(ctx context.Context, seen store.IdleGrant) idleEnd {
	c, err := r.store.Tenant(seen.Tenant).Connector(ctx, connectors.Ref(seen.Connector.String()))
	if err != nil {
		return r.unread(ctx, seen, err)
	}
	g, err := r.store.Vault(seen.Tenant).Grant(ctx, seen.Connector, seen.Agent)
	if err != nil {
		return r.unread(ctx, seen, err)
	}
	if g.ID != seen.ID || g.Version != seen.Version || !c.Enabled || !alive(c, g.Credential) || !r.renewable(g) {
		return idleMoved
	}
	fresh, err := r.renewed(ctx, seen.Tenant, c, g)
	switch {
	case err != nil, fresh.Version == g.Version:
		return idleFailed
	case fresh.Status == connectors.CredentialRevoked:
		return idleEnded
	default:
		return idleRenewed
	}
}

func (r *idleRound) unread(ctx context.Context, seen store.IdleGrant, err error) idleEnd {
	if fault.Is(err, fault.NotFound) {
		return idleMoved
	}
	r.log.WarnContext(ctx, "idle account not read", slog.String("tenant_id", seen.Tenant.String()), slog.String("credential_id", seen.ID.String()), slog.Any("error", err))
	return idleFailed
}
