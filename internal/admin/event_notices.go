package admin

import (
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// notices sends what is told from now on, and what is told anew in the place of what was. after is the newest notice that the page
// shows: ids grow with time.
func (s *stream) notices(after string) func() error {
	var known map[connectors.NoticeID]int // how often each was said
	return func() error {
		list, err := s.h.store.Tenant(s.actor.Tenant.ID).Notices(s.ctx, s.actor.UserID, store.Page{Limit: noticesPage})
		if err != nil {
			return fmt.Errorf("list notices: %w", err)
		}
		var news templates.NoticeNews
		now := map[connectors.NoticeID]int{}
		for _, n := range list.Items {
			now[n.ID] = n.Times
			before, shown := known[n.ID]
			switch {
			case known == nil && n.ID.String() > after, known != nil && !shown:
				news.Come = append([]templates.NoticeRow{noticeRow(s.ctx, n, s.h.now())}, news.Come...)
			case shown && before != n.Times:
				news.Changed = append(news.Changed, noticeRow(s.ctx, n, s.h.now()))
			}
		}
		known = now
		if len(news.Come) == 0 && len(news.Changed) == 0 {
			return nil
		}
		return s.show(templates.NoticesChanged(news))
	}
}
