package admin

import (
	"net/http"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// noticesPage is how many notices a page shows.
const noticesPage = 30

// noticeList lists what people should know, the newest first.
func (h *Handler) noticeList(w http.ResponseWriter, r *http.Request) error {
	cursor := r.URL.Query().Get("cursor")
	list, err := h.tenant(r).Notices(r.Context(), actor(r).UserID, store.Page{Limit: noticesPage, Cursor: cursor})
	if err != nil {
		return err
	}
	frame := h.frame(r, templates.NavNotices, crumb(words.T(r.Context(), "Notices"), ""))
	if cursor == "" {
		frame.Listen = noticeEvents(list.Items)
	}
	page := templates.NoticesPage{Frame: frame, Pager: pager(r, list.Next), Unread: frame.Unread > 0}
	for _, n := range list.Items {
		page.Rows = append(page.Rows, noticeRow(r.Context(), n, h.now()))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Notices(page))
}

// noticeEvents is the stream that tells of what is newer than a list, whose newest is the first.
func noticeEvents(list []connectors.Notice) string {
	if len(list) == 0 {
		return "/events?on=notices"
	}
	return "/events?on=notices&after=" + list[0].ID.String()
}

// noticeRead marks the notices with the form's ids as read by whoever asks, or, without any, all.
func (h *Handler) noticeRead(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	var ids []connectors.NoticeID
	for _, text := range f.values["id"] {
		id, ok := connectors.Ref(text).UUID()
		if !ok {
			return fault.Errorf(fault.NotFound, "There is no such notice.")
		}
		ids = append(ids, connectors.NoticeID{UUID: id})
	}
	n, err := h.tenant(r).ReadNotices(r.Context(), *actor(r).UserID, slices.Clip(ids)...)
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/notices", respond.Flash{Kind: respond.Notice, Text: words.N(r.Context(), n, "%s notice marked as read.", "%s notices marked as read.")})
}
