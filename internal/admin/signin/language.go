package signin

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
)

// languageSave sets the cookie of the chosen language. An unknown language deletes it.
func (h *Handler) languageSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	cookie := http.Cookie{
		Name: middleware.LanguageCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: h.Auth.Sessions().Cookie.Secure,
	}
	if l := i18n.ByCode(f.Text("language")); l != nil {
		cookie.Value, cookie.MaxAge = l.Code, shell.YearInSeconds
	}
	http.SetCookie(w, &cookie)
	return respond.See(w, r, respond.OwnPath(f.Text("return_to"), "/"))
}
