package admin_test

import (
	"net/http"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
)

// BenchmarkLanguages serves whole pages in each language, with translated failures of other packages.
func BenchmarkLanguages(b *testing.B) {
	d := newDashboard(b)
	d.createNeeds()
	for _, language := range []string{"en", "de"} {
		owner := d.signInAsRole(connectors.RoleOwner)
		owner.submit("/language", url.Values{"language": {language}, "return_to": {"/"}})
		for name, path := range map[string]string{"home": "/", "connectors": "/connectors", "settings": "/connectors/stripe/settings"} {
			b.Run(name+"/"+language, func(b *testing.B) {
				owner.get(path).want(b, http.StatusOK, `<html lang="`+language+`">`)
				for b.Loop() {
					owner.get(path)
				}
			})
		}
	}
}
