package home

import (
	"net/http"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// NoticePageSize is the number of notices on a page.
const NoticePageSize = 30

// noticeList lists the notices, newest first.
func (h *Handler) noticeList(w http.ResponseWriter, r *http.Request) error {
	cursor := r.URL.Query().Get("cursor")
	list, err := h.TenantStore(r).People().Notices(r.Context(), shell.Actor(r).UserID, store.Page{Limit: NoticePageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	frame := h.NewFrame(r, templates.NavNotices, shell.NewCrumb(i18n.T(r.Context(), "Notifications"), ""))
	if cursor == "" {
		frame.Listen = noticeEventsPath(list.Items)
	}
	page := templates.NoticesPage{Frame: frame, Pager: shell.NewPager(r, list.Next), Unread: frame.Unread > 0}
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

// noticeRead marks the form's notices as read by the person, or all if it has none.
func (h *Handler) noticeRead(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	var ids []connectors.NoticeID
	for _, text := range f.Values["id"] {
		id, ok := connectors.Ref(text).UUID()
		if !ok {
			return fault.Errorf(fault.NotFound, "No such notification.")
		}
		ids = append(ids, connectors.NoticeID{UUID: id})
	}
	n, err := h.TenantStore(r).People().ReadNotices(r.Context(), *shell.Actor(r).UserID, slices.Clip(ids)...)
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/notices", respond.Flash{Kind: respond.Notice, Text: i18n.N(r.Context(), n, "%s marked as read.", "%s marked as read.")})
}
