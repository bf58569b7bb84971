package middleware

import (
	"net/http"

	"patchbay/internal/i18n"
)

// LanguageCookie stores the code of the chosen language.
const LanguageCookie = "patchbay_language"

// Language selects the language of pages: the chosen one, else by Accept-Language, else English.
func Language(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var chosen string
		if c, err := r.Cookie(LanguageCookie); err == nil {
			chosen = c.Value
		}
		l := i18n.Choose(chosen, r.Header.Get("Accept-Language"))
		if l == i18n.English { // the default
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r.WithContext(i18n.With(r.Context(), l)))
	})
}
