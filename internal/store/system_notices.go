package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
)

// credentialGrace is how long a credential may be missing or refused before a notice.
const credentialGrace = 10 * time.Minute

// NoticeConditions adds notices for connectors that are down, recovered, or need a credential; once per condition
// and at most max of each. It returns their number. Any process may call it. A condition that begins again has a
// notice of its own, so that webhooks receive each beginning.
func (s *System) NoticeConditions(ctx context.Context, max int) (int, error) {
	found := 0
	err := s.inTx(ctx, func(tx *System) error {
		for _, look := range []func(context.Context, int32) ([]tenantNotice, error){tx.newlyDown, tx.newlyRefused, tx.newlyRecovered} {
			news, err := look(ctx, int32(max))
			if err != nil {
				return err
			}
			found += len(news)
			for _, n := range news {
				if err := (noticeWriter{id: n.tenant, scope: tx.scope, q: tx.q, jobs: tx.jobs}).addUnmerged(ctx, n.NewNotice); err != nil {
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

func (s *system) newlyDown(ctx context.Context, max int32) ([]tenantNotice, error) {
	rows, err := s.q.NewlyDown(ctx, max)
	news := make([]tenantNotice, len(rows))
	for i, r := range rows {
		c := connectors.ConnectorName{ID: r.ID, Slug: r.Slug, Name: r.Name}
		news[i] = tenantNotice{r.TenantID, connectors.DownNotice(c, *r.FailingSince, int(r.Failures), textOrEmpty(r.LastErrorMessage), decodeUpstream(r.Upstream))}
	}
	return news, err
}

func (s *system) newlyRefused(ctx context.Context, max int32) ([]tenantNotice, error) {
	rows, err := s.q.NewlyRefused(ctx, credentialGrace.Seconds(), max)
	news := make([]tenantNotice, len(rows))
	for i, r := range rows {
		c := connectors.ConnectorName{ID: r.ID, Slug: r.Slug, Name: r.Name}
		news[i] = tenantNotice{r.TenantID, connectors.NeedsAuthNotice(c, connectors.NoticeAccount{}, textOrEmpty(r.LastErrorMessage), decodeUpstream(r.Upstream))}
	}
	return news, err
}

func (s *system) newlyRecovered(ctx context.Context, max int32) ([]tenantNotice, error) {
	rows, err := s.q.NewlyRecovered(ctx, max)
	news := make([]tenantNotice, len(rows))
	for i, r := range rows {
		c := connectors.ConnectorName{ID: r.ID, Slug: r.Slug, Name: r.Name}
		news[i] = tenantNotice{r.TenantID, connectors.RecoveredNotice(c, r.FailingSince)}
	}
	return news, err
}
