package home

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// NoticePageSize is the number of notices on a page.
const NoticePageSize = 30

// noticeList lists what needs attention, as the home page does, and the notices, newest first.
func (h *Handler) noticeList(w http.ResponseWriter, r *http.Request) error {
	cursor := r.URL.Query().Get("cursor")
	var list store.List[connectors.Notice]
	var needs connectors.Needs
	var total int
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if needs, err = tx.Lists().AttentionItems(r.Context(), MaxNeedsShown); err != nil {
			return err
		}
		if total, err = tx.Lists().Notices(r.Context()); err != nil {
			return err
		}
		list, err = tx.People().Notices(r.Context(), shell.Actor(r).UserID, store.Page{Limit: NoticePageSize, Cursor: cursor})
		return err
	})
	if err != nil {
		return err
	}
	frame := h.NewFrame(r, templates.NavNotices, shell.NewCrumb(i18n.T(r.Context(), "Notifications"), ""))
	if cursor == "" {
		frame.Listen = noticeEventsPath(list.Items)
	}
	page := templates.NoticesPage{Frame: frame, Needs: NeedsView(r.Context(), h.Shell, needs, frame.Can), Pager: shell.WithBoundedTotal(shell.NewPager(r, list.Next, len(list.Items)), total)}
	for _, n := range list.Items {
		page.Rows = append(page.Rows, NoticeRow(r.Context(), n, shell.Actor(r).Role, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Notices(page))
}

// noticeEventsPath is the event stream of notices newer than the list's first one.
func noticeEventsPath(list []connectors.Notice) string {
	if len(list) == 0 {
		return "/events?on=notices"
	}
	return "/events?on=notices&after=" + list[0].ID.String()
}
