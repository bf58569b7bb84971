package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
)

// grace is how long a connector's credential may be missing or refused before people are told.
const grace = 10 * time.Minute

// NoticeConditions tells of connectors that have failed for so long, of those that work again, and of those that need a credential; of
// each condition once, and of at most max connectors each. It says how many it found. Any process may do it at any time.
func (s *System) NoticeConditions(ctx context.Context, dead time.Duration, max int) (int, error) {
	found := 0
	err := s.tx(ctx, func(tx *System) error {
		for _, look := range []func(context.Context, time.Duration, int32) ([]tenantNotice, error){tx.newlyDown, tx.newlyRefused, tx.newlyRecovered} {
			news, err := look(ctx, dead, int32(max))
			if err != nil {
				return err
			}
			found += len(news)
			for _, n := range news {
				if err := (teller{id: n.tenant, scope: tx.scope, q: tx.q, jobs: tx.jobs}).add(ctx, n.NewNotice); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return found, err
}

type tenantNotice struct {
	tenant connectors.TenantID
	NewNotice
}

func (s *System) newlyDown(ctx context.Context, dead time.Duration, max int32) ([]tenantNotice, error) {
	rows, err := s.q.NewlyDown(ctx, dead.Seconds(), max)
	news := make([]tenantNotice, len(rows))
	for i, r := range rows {
		c := connectors.ConnectorName{ID: r.ID, Slug: r.Slug, Name: r.Name}
		news[i] = tenantNotice{r.TenantID, connectors.DownNotice(c, *r.FailingSince, text(r.LastErrorMessage))}
	}
	return news, err
}

func (s *System) newlyRefused(ctx context.Context, _ time.Duration, max int32) ([]tenantNotice, error) {
	rows, err := s.q.NewlyRefused(ctx, grace.Seconds(), max)
	news := make([]tenantNotice, len(rows))
	for i, r := range rows {
		c := connectors.ConnectorName{ID: r.ID, Slug: r.Slug, Name: r.Name}
		news[i] = tenantNotice{r.TenantID, connectors.NeedsAuthNotice(c, connectors.AgentName{}, text(r.LastErrorMessage))}
	}
	return news, err
}

func (s *System) newlyRecovered(ctx context.Context, _ time.Duration, max int32) ([]tenantNotice, error) {
	rows, err := s.q.NewlyRecovered(ctx, max)
	news := make([]tenantNotice, len(rows))
	for i, r := range rows {
		c := connectors.ConnectorName{ID: r.ID, Slug: r.Slug, Name: r.Name}
		news[i] = tenantNotice{r.TenantID, connectors.RecoveredNotice(c, r.FailingSince)}
	}
	return news, err
}
