package middleware

import (
	"net/http"

	"patchbay/internal/words"
)

// LanguageCookie keeps the language that a person chose, by its code.
const LanguageCookie = "patchbay_language"

// Language lets pages speak the language that the person chose, else one that the browser accepts, else English.
func Language(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var chosen string
		if c, err := r.Cookie(LanguageCookie); err == nil {
			chosen = c.Value
		}
		l := words.Choose(chosen, r.Header.Get("Accept-Language"))
		if l == words.English { // as it is without a word
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r.WithContext(words.With(r.Context(), l)))
	})
}
