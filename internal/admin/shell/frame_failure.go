package shell

import (
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// failureFrame is the frame of a failure page for a signed-in person. It does not query a database that failed;
// the page has no badges then.
func (h *Shell) failureFrame(r *http.Request, f *fault.Error, title string) (templates.Frame, bool) {
	broken := f.Kind == fault.Internal || f.Kind == fault.Unavailable
	a, known := auth.ActorFrom(r.Context())
	if !known && !broken {
		a, known = h.sessionActor(r)
	}
	if !known || a.Kind != auth.KindPerson {
		return templates.Frame{}, false
	}
	frame := baseFrame(r.Context(), a, NewCrumb(title, ""))
	if !broken {
		h.loadBadges(r.Context(), a, &frame)
	}
	return frame, true
}

// sessionActor reads the session for a path without middleware.
func (h *Shell) sessionActor(r *http.Request) (auth.Actor, bool) {
	cookie, err := r.Cookie(h.auth.Sessions().Cookie.Name)
	if err != nil {
		return auth.Actor{}, false
	}
	a, err := h.auth.FromToken(r.Context(), secret.Text(cookie.Value))
	return a, err == nil
}
