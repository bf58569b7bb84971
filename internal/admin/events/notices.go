package events

import (
	"fmt"

	"patchbay/internal/admin/home"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// noticeUpdates sends new notices, and repeated ones in place of the old. after is the newest notice on the
// page: ids grow with time.
func (s *stream) noticeUpdates(after string) func() error {
	var known map[connectors.NoticeID]int // the count of each notice
	return func() error {
		list, err := s.h.Store.Tenant(s.actor.Tenant.ID).People().Notices(s.ctx, s.actor.UserID, store.Page{Limit: home.NoticePageSize})
		if err != nil {
			return fmt.Errorf("list notices: %w", err)
		}
		var update templates.NoticeNews
		now := map[connectors.NoticeID]int{}
		for _, n := range list.Items {
			now[n.ID] = n.Times
			before, isKnown := known[n.ID]
			switch {
			case known == nil && n.ID.String() > after, known != nil && !isKnown:
				update.Come = append([]templates.NoticeRow{home.NoticeRow(s.ctx, n, s.actor.Role, s.h.Now())}, update.Come...)
			case isKnown && before != n.Times:
				update.Changed = append(update.Changed, home.NoticeRow(s.ctx, n, s.actor.Role, s.h.Now()))
			}
		}
		known = now
		if len(update.Come) == 0 && len(update.Changed) == 0 {
			return nil
		}
		return s.sendComponent(templates.NoticesChanged(update))
	}
}
