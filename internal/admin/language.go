package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
)

const yearInSeconds = 365 * 24 * 60 * 60

// languageSave sets the cookie of the chosen language. An unknown language deletes it.
func (h *Handler) languageSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	cookie := http.Cookie{
		Name: middleware.LanguageCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: h.auth.Sessions().Cookie.Secure,
	}
	if l := i18n.ByCode(f.text("language")); l != nil {
		cookie.Value, cookie.MaxAge = l.Code, yearInSeconds
	}
	http.SetCookie(w, &cookie)
	return respond.See(w, r, respond.OwnPath(f.text("return_to"), "/"))
}
