package events

import (
	"fmt"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// needsPollInterval is the interval of the counts and lists that cost more than the waiting approvals and changes.
const needsPollInterval = 5 * time.Second

// badges is a stream's state of the counts in the frame, which every page shows.
type badges struct {
	store.BadgeCounts
	known  bool      // the counts were read and sent
	readAt time.Time // last full read
}

// sendBadges sends the counts of the frame at first, because the page may be older than its stream, and when they
// changed.
func (s *stream) sendBadges() error {
	now := s.badges
	if err := s.readBadges(&now); err != nil {
		return fmt.Errorf("count badges: %w", err)
	}
	before := s.badges
	if s.badges = now; now.known == before.known && now.BadgeCounts == before.BadgeCounts {
		return nil
	}
	if err := s.sendComponent(templates.BadgesChanged(shell.ToBadges(s.actor.Role, now.BadgeCounts))); err != nil {
		return err
	}
	if before.known && now.Approvals > before.Approvals && s.announces {
		return s.announceApproval()
	}
	return nil
}

func (s *stream) readBadges(b *badges) error {
	tenant, now := s.h.Store.Tenant(s.actor.Tenant.ID), s.h.Now()
	if b.known && now.Sub(b.readAt) < needsPollInterval {
		return tenant.UpdateBadges(s.ctx, &b.BadgeCounts)
	}
	counts, err := tenant.Badges(s.ctx)
	*b = badges{BadgeCounts: counts, known: true, readAt: now}
	return err
}

// announceApproval tells a person with a deciding role that a call has begun to wait, wherever they are.
func (s *stream) announceApproval() error {
	if !s.actor.Role.May(connectors.PermOperate) {
		return nil
	}
	list, err := s.h.Store.Tenant(s.actor.Tenant.ID).Calls().WaitingApprovals(s.ctx, store.Page{Limit: 1})
	if err != nil || len(list.Items) == 0 {
		return err
	}
	newest := list.Items[0]
	return s.sendComponent(templates.ApprovalAsked(web.Asset, shell.ShortenText(shell.CleanText(newest.Tool), shell.MaxName), shell.ApprovalPath(newest.ID)))
}
