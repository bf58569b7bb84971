package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AttentionItems returns what waits for a person, at most max of each kind, in one round trip.
func (t Lists) AttentionItems(ctx context.Context, max int) (connectors.Needs, error) {
	rows := int32(max)
	var calls []dbgen.AttentionApprovalsRow
	var requests []dbgen.AttentionRequestsRow
	var needy []dbgen.AttentionConnectorsRow
	var vanished []dbgen.AttentionVanishedRow
	var lapsing []dbgen.AttentionRenewalsRow
	var changes []dbgen.AttentionReviewsRow
	err := t.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) { calls, err = q.AttentionApprovals(ctx, t.id, rows); return err },
		func(q *dbgen.Queries) (err error) { requests, err = q.AttentionRequests(ctx, t.id, rows); return err },
		func(q *dbgen.Queries) (err error) { needy, err = q.AttentionConnectors(ctx, rows, t.id); return err },
		func(q *dbgen.Queries) (err error) { vanished, err = q.AttentionVanished(ctx, t.id, rows); return err },
		func(q *dbgen.Queries) (err error) {
			lapsing, err = q.AttentionRenewals(ctx, t.id, connectors.LapseWarning.Seconds(), rows)
			return err
		},
		func(q *dbgen.Queries) (err error) { changes, err = q.AttentionReviews(ctx, t.id, rows); return err },
	)
	if err != nil {
		return connectors.Needs{}, err
	}
	n := connectors.Needs{Totals: map[connectors.NeedKind]int{}}
	add := func(one connectors.Need, total int64) {
		n.List = append(n.List, one)
		n.Totals[one.Kind] = int(total)
	}
	for _, r := range calls {
		add(connectors.Need{
			Kind: connectors.NeedApproval, At: r.AskedAt.UTC(), Connector: r.Connector, ConnectorSlug: r.Slug, ConnectorURL: r.Url, ConnectorIcon: toHash(r.IconHash), Agent: r.Agent, Tool: r.Tool, Call: r.ID, Ends: r.ExpiresAt.UTC(),
		}, r.Total)
	}
	for _, r := range requests {
		add(connectors.Need{
			Kind: connectors.NeedAccess, At: r.AskedAt.UTC(), Connector: r.Connector, ConnectorSlug: r.Slug, ConnectorURL: r.Url, ConnectorIcon: toHash(r.IconHash), Agent: r.Agent, Request: r.ID, Asker: r.AskedBy,
		}, r.Total)
	}
	for _, r := range needy {
		add(toNeed(r), r.Total)
	}
	for _, r := range vanished {
		add(connectors.Need{
			Kind: connectors.NeedTools, At: r.VanishedAt.UTC(), Connector: r.Name, ConnectorURL: r.Url, ConnectorIcon: toHash(r.IconHash), ConnectorSlug: r.Slug,
			Vanished: connectors.VanishedTools{At: r.VanishedAt.UTC(), Tools: int(r.VanishedTools), Of: int(r.VanishedOf)},
		}, r.Total)
	}
	for _, r := range lapsing {
		add(connectors.Need{
			Kind: connectors.NeedRenewal, At: r.LapsesAt.UTC(), Connector: r.Connector, ConnectorURL: r.Url, ConnectorIcon: toHash(r.IconHash), ConnectorSlug: r.ConnectorSlug, Agent: r.Agent, AgentSlug: r.AgentSlug,
			Account: r.AccountName,
		}, r.Total)
	}
	for _, r := range changes {
		add(connectors.Need{
			Kind: connectors.NeedReview, At: r.SeenAt.UTC(), Connector: r.Connector, ConnectorURL: r.Url, ConnectorIcon: toHash(r.IconHash), ConnectorSlug: r.Slug, Tool: r.Tool, Again: !r.IsNew, Risk: r.Risk,
		}, r.Total)
	}
	return n, nil
}

func toNeed(r dbgen.AttentionConnectorsRow) connectors.Need {
	n := connectors.Need{
		Kind: connectors.NeedServer, At: r.Since.UTC(), Connector: r.Name, ConnectorURL: r.Url, ConnectorIcon: toHash(r.IconHash), ConnectorSlug: r.Slug, Auth: connectors.AuthType(r.AuthType),
		Mode: connectors.CredentialMode(r.CredentialMode), Again: r.Synced, Reason: r.Reason,
	}
	if r.NeedsAuth {
		n.Kind = connectors.NeedAuthorization
	}
	return n
}

// BadgeCounts counts what [Lists.AttentionItems] lists.
type BadgeCounts struct {
	Approvals  int // calls that wait for approval
	Changes    int // tool changes that wait for review
	Requests   int // open requests for access
	Connectors int // connectors and accounts that need attention
}

// Total is the number of all items.
func (b BadgeCounts) Total() int { return b.Approvals + b.Changes + b.Requests + b.Connectors }

// Badges reads the counts.
func (t *Tenant) Badges(ctx context.Context) (BadgeCounts, error) {
	row, err := t.q.CountNeeds(ctx, t.id, connectors.LapseWarning.Seconds())
	return BadgeCounts{Approvals: int(row.Approvals), Changes: int(row.Changes), Requests: int(row.Requests), Connectors: int(row.Connectors)}, err
}

// UpdateBadges reads the counts that change often: the waiting approvals and changes.
func (t *Tenant) UpdateBadges(ctx context.Context, b *BadgeCounts) error {
	row, err := t.q.CountBadges(ctx, t.id)
	if err == nil {
		b.Approvals, b.Changes = int(row.Approvals), int(row.Changes)
	}
	return err
}
