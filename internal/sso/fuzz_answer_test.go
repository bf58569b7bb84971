package sso

import (
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// FuzzAnswer checks that a callback is accepted only from the browser that began the sign-in and the provider
// that was asked, and that every refusal is one line.
func FuzzAnswer(f *testing.F) {
	own := flowSecret{
		tenant: connectors.TenantID{UUID: uuid.MustParse("018f4e9e-8c3a-7b4e-9d2f-3a5b6c7d8e9f")},
		id:     uuid.MustParse("018f4e9e-8c3a-7b4e-9d2f-000000000001"), browser: "the secret of a browser",
	}
	other := own
	other.browser = "the secret of another browser"
	for _, query := range []string{
		"code=x&state=" + own.stateText(), "code=x&iss=https://idp.example&state=" + own.stateText(), "code=x&iss=https://evil.example&state=" + own.stateText(), "code=x&code=y&state=" + own.stateText(),
		"code=x&error=access_denied&error_description=a%0d%0ab&state=" + own.stateText(), "error=%00%ff&state=" + other.stateText(), "iss=&code=x&state=" + own.stateText() + "=", "code=&state=", "%zz", "code=x;state=y",
		"error=" + strings.Repeat("%C3%A4", 400) + "&state=" + own.stateText(),
	} {
		f.Add(query, true)
		f.Add(query, false)
	}
	const issuer = "https://idp.example"
	f.Fuzz(func(t *testing.T, query string, tells bool) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		state := q.Get("state")
		found, ok := readState(state, own.browser)
		if ok != (state == found.stateText()) || ok && found.browser != own.browser {
			t.Errorf("%q is the state of %+v, %v", state, found, ok)
		}
		if _, also := readState(state, other.browser); ok && also {
			t.Errorf("%q is the state of two browsers", state)
		}
		if _, nobodys := readState(state, ""); nobodys {
			t.Errorf("%q is the state of no browser", state)
		}
		code, err := readCallback(q, issuer, &provider{meta: providerMetadata{IssParameter: tells}})
		fromIt := len(q["iss"]) == 0 && !tells || q.Get("iss") == issuer
		if (err == nil) != (fromIt && q.Get("error") == "" && q.Get("code") != "" && len(q["code"]) == 1) || err == nil && code != q["code"][0] {
			t.Errorf("%q answers with the code %q, %v", query, code, err)
		}
		if err != nil && (!utf8.ValidString(err.Error()) || len(err.Error()) > 1000 || strings.ContainsFunc(err.Error(), unicode.IsControl)) {
			t.Errorf("%q is told as %q", query, err)
		}
	})
}
