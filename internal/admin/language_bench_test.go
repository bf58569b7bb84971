package admin_test

import (
	"net/http"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
)

// BenchmarkLanguages serves pages whole, in each language: with failures on them, which another room said and German knows again.
func BenchmarkLanguages(b *testing.B) {
	d := newDashboard(b)
	d.needy()
	for _, language := range []string{"en", "de"} {
		owner := d.as(connectors.RoleOwner)
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
