package connectors_test

import (
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestHost_InternationalisedIsStoredInASCII(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]struct{ stored, shown string }{
		"https://mcp.example.com/mcp":           {"https://mcp.example.com/mcp", ""},
		"https://bücher.example/mcp?q=ü":        {"https://xn--bcher-kva.example/mcp?q=ü", "https://bücher.example/mcp?q=ü"},
		"https://BÜCHER.example:8443":           {"https://xn--bcher-kva.example:8443", "https://bücher.example:8443"},
		"https://bu\u0308cher.example/":         {"https://xn--bcher-kva.example/", "https://bücher.example/"}, // decomposed
		"https://b%C3%BCcher.example/a%20b":     {"https://xn--bcher-kva.example/a%20b", "https://bücher.example/a%20b"},
		"https://xn--bcher-kva.example/mcp":     {"https://xn--bcher-kva.example/mcp", "https://bücher.example/mcp"},
		"https://straße.example/":               {"https://xn--strae-oqa.example/", "https://straße.example/"},
		"https://例え.テスト/":                       {"https://xn--r8jz45g.xn--zckzah/", "https://例え.テスト/"},
		"https://пример.example/":               {"https://xn--e1afmkfd.example/", "https://пример.example/"},
		"https://اختبار.example/":               {"https://xn--mgbachtv.example/", "https://اختبار.example/"},
		"https://東京mcp.example/":                {"https://xn--mcp-dm9di64i.example/", "https://東京mcp.example/"},
		"https://[2606:4700:4700::1111]:8443/x": {"https://[2606:4700:4700::1111]:8443/x", ""},
		"http://127.0.0.1:3000/":                {"http://127.0.0.1:3000/", ""},
	} {
		d := newDraft(func(d *connectors.Draft) { d.URL = typed }).Normalized()
		if d.URL != want.stored || len(d.Validate()) > 0 {
			t.Errorf("%s is stored as %s: %v", typed, d.URL, d.Validate())
		}
		if shown := connectors.UnicodeURL(d.URL); shown != want.shown {
			t.Errorf("%s is shown as %q, want %q", typed, shown, want.shown)
		}
	}
}

func TestHost_MisleadingIsRefused(t *testing.T) {
	t.Parallel()
	for name, typed := range map[string]string{
		"a Cyrillic letter among Latin ones": "https://p\u0430ypal.example/",
		"a Greek letter among Latin ones":    "https://g\u03bfogle.example/",
		"full-width letters":                 "https://ｌocalhost/",
		"digits in circles":                  "https://①②⑦.⓪.⓪.①/",
		"full-width digits":                  "https://１２７.0.0.1/",
		"ideographic dots":                   "https://mcp。example。com/",
		"a long s":                           "https://localho\u017ft/",
		"a zero-width space":                 "https://mcp\u200b.example.com/",
		"a soft hyphen":                      "https://mcp\u00ad.example.com/",
		"text turned around":                 "https://\u202emoc.example/",
		"a full-width slash":                 "https://mcp.example.com／@127.0.0.1/",
		"a mark alone":                       "https://\u0308.example/",
		"an emoji":                           "https://💩.example/",
		"two directions":                     "https://abcا.example/",
		"an underscore":                      "https://bü_cher.example/",
		"punycode of nothing":                "https://xn--.example/",
		"punycode of ASCII":                  "https://xn--abc-.example/",
		"broken punycode":                    "https://xn--99999999999.example/",
	} {
		d := newDraft(func(d *connectors.Draft) { d.URL = typed }).Normalized()
		if got := fieldLocations(d.Validate()); !slices.Contains(got, "url") {
			t.Errorf("%s is accepted as %s", name, d.URL)
		}
		if shown := connectors.UnicodeURL(typed); shown != "" && shown != typed {
			t.Errorf("%s is shown as %s", name, shown)
		}
	}
}

// oauthAddresses are the addresses in OAuth settings, by location.
var oauthAddresses = map[string]func(*connectors.OAuthSettings) *string{
	"auth.issuer":                 func(s *connectors.OAuthSettings) *string { return &s.Issuer },
	"auth.authorization_endpoint": func(s *connectors.OAuthSettings) *string { return &s.AuthorizationEndpoint },
	"auth.token_endpoint":         func(s *connectors.OAuthSettings) *string { return &s.TokenEndpoint },
	"auth.resource": func(s *connectors.OAuthSettings) *string {
		if s.Resource == nil {
			s.Resource = new("")
		}
		return s.Resource
	},
}

func TestOAuthAddress_InternationalisedIsStoredInASCII(t *testing.T) {
	t.Parallel()
	for location, address := range oauthAddresses {
		d := newDraft(func(d *connectors.Draft) {
			d.Auth.Type = connectors.AuthOAuth2
			*address(&d.OAuth) = " https://BÜCHER.example:8443/a%20b "
		})
		if got := *address(&d.OAuth); got != "https://xn--bcher-kva.example:8443/a%20b" || len(d.Validate()) > 0 {
			t.Errorf("%s is stored as %s: %v", location, got, d.Validate())
		}
	}
}

func TestOAuthAddress_MisleadingIsRefused(t *testing.T) {
	t.Parallel()
	for location, address := range oauthAddresses {
		for _, typed := range []string{"https://p\u0430ypal.example/", "https://①②⑦.⓪.⓪.①/", "https://xn--.example/"} {
			d := newDraft(func(d *connectors.Draft) {
				d.Auth.Type = connectors.AuthOAuth2
				*address(&d.OAuth) = typed
			})
			if got := fieldLocations(d.Validate()); !slices.Equal(got, []string{location}) {
				t.Errorf("%s %s is refused at %v", location, typed, got)
			}
		}
	}
}

func TestOAuthClientID_StaysAsEntered(t *testing.T) {
	t.Parallel()
	const id = "https://b%C3%BCcher.example/client"
	d := newDraft(func(d *connectors.Draft) { d.Auth.Type, d.OAuth.ClientID = connectors.AuthOAuth2, id })
	if d.OAuth.ClientID != id {
		t.Errorf("stored as %s", d.OAuth.ClientID)
	}
}

func TestWebhook_InternationalisedURLIsStoredInASCII(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		" " + "https://bücher.example/hook" + " ": "https://xn--bcher-kva.example/hook",
		"https://p\u0430ypal.example/":            "https://p\u0430ypal.example/", // misleading: the egress rules refuse it
	} {
		if got := (connectors.Webhook{URL: typed}).Normalized().URL; got != want {
			t.Errorf("%s is stored as %s, want %s", typed, got, want)
		}
	}
}

func TestASCIIURL_LongURLIsNotConverted(t *testing.T) {
	t.Parallel()
	long := "https://" + strings.Repeat("ü", 1<<20) + ".example/"
	if got, ok := connectors.ASCIIURL(long); ok || got != long {
		t.Error("a host of 2 MiB is converted")
	}
}
