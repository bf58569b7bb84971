package middleware_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/i18n"
)

// FuzzHeaders sends any headers through the envelope. The request id must be safe, the address valid, the
// language known, and the log line one line of JSON.
func FuzzHeaders(f *testing.F) {
	f.Add("an-id-of-a-proxy", "203.0.113.9, 10.0.0.2", "de;q=0.9, en", "patchbay_language=de; patchbay=x", "https://evil.example")
	f.Add("x\r\ny", "[::1]:80, ,unknown", "*;q=1e9, x-very-long-subtag-x", "patchbay_language=\"de", "null")
	harmless, local := regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`), netip.MustParsePrefix("192.0.2.0/24")
	f.Fuzz(func(t *testing.T, id, forwarded, accept, cookie, origin string) {
		e := newEnvelope(t, "https://patchbay.example.com", local)
		var code, from string
		e.router.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
			code, from = i18n.FromContext(r.Context()).Code, chimiddleware.GetClientIP(r.Context())
		})
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		for name, value := range map[string]string{"X-Request-Id": id, "X-Forwarded-For": forwarded, "Accept-Language": accept, "Cookie": cookie, "Origin": origin} {
			r.Header[name] = []string{value}
		}
		answer := e.do(r)
		if answer.Code != http.StatusOK && answer.Code != http.StatusForbidden {
			t.Errorf("answered %d", answer.Code)
		}
		if have := answer.Header().Get("X-Request-Id"); !harmless.MatchString(have) {
			t.Errorf("the request's id is %q", have)
		}
		if _, err := netip.ParseAddr(from); from != "" && err != nil {
			t.Errorf("it comes from %q", from)
		}
		if code != "" && !slices.Contains([]string{"en", "de"}, code) {
			t.Errorf("the language is %q", code)
		}
		if line := strings.TrimSuffix(e.log.String(), "\n"); strings.Contains(line, "\n") || !json.Valid([]byte(line)) {
			t.Errorf("the log has %q", line)
		}
	})
}

// FuzzAddresses compares [middleware.ClientAddressFunc] with the envelope.
func FuzzAddresses(f *testing.F) {
	for _, tc := range addresses {
		f.Add(tc.remote, strings.Join(tc.forwarded, "\n"))
	}
	f.Fuzz(func(t *testing.T, remote, forwarded string) {
		sameAddress(t, remote, strings.Split(forwarded, "\n")...)
	})
}
