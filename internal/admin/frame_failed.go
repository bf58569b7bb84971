package admin

import (
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// failureFrame is the frame of a page that says why there is none, for whoever is signed in. It asks the database for nothing where that is
// what failed: the page has no badges then.
func (h *Handler) failureFrame(r *http.Request, f *fault.Error, title string) (templates.Frame, bool) {
	broken := f.Kind == fault.Internal || f.Kind == fault.Unavailable
	a, known := auth.ActorFrom(r.Context())
	if !known && !broken {
		a, known = h.bySession(r)
	}
	if !known || a.Kind != auth.KindPerson {
		return templates.Frame{}, false
	}
	frame := frameOf(r.Context(), a, crumb(title, ""))
	if !broken {
		news := h.news(r.Context(), a)
		frame.Waiting, frame.Changes, frame.Unread = news.Approvals, news.Changes, news.Unread
	}
	return frame, true
}

// bySession is who comes to an address behind which no door stands: its session was not read yet.
func (h *Handler) bySession(r *http.Request) (auth.Actor, bool) {
	cookie, err := r.Cookie(h.auth.Sessions().Cookie.Name)
	if err != nil {
		return auth.Actor{}, false
	}
	a, err := h.auth.FromToken(r.Context(), secret.Text(cookie.Value))
	return a, err == nil
}
