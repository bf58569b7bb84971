package mcp_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"patchbay/internal/mcp"
)

// dialRefused returns the error of a handshake that gets a status and headers, without a network.
func dialRefused(t *testing.T, status int, header ...string) *mcp.Error {
	t.Helper()
	d := &mcp.Dialer{HTTP: &http.Client{
		Transport:     roundTrip(func(r *http.Request) (*http.Response, error) { return response(r, status, "", header...), nil }),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	_, err := d.Dial(t.Context(), mcp.Target{URL: "https://mcp.example.com/mcp"})
	failure := asError(err)
	if failure == nil || failure.HTTPStatus != status {
		t.Fatalf("error %v", err)
	}
	return failure
}

// For any WWW-Authenticate, the result is bounded, consists of words, and holds nothing that was not there.
// Well-formed challenges are read unchanged.
func FuzzChallenges(f *testing.F) {
	f.Add(`Bearer realm="a, b", resource_metadata="https://x/.well-known/y" , scope=""`, "say \"hi\"\\")
	f.Add(`Negotiate dGVzdA==, Basic realm=x`, "")
	f.Fuzz(func(t *testing.T, header, realm string) {
		got := dialRefused(t, http.StatusUnauthorized, "WWW-Authenticate", header).Challenges
		if len(got) > 16 {
			t.Errorf("%d challenges", len(got))
		}
		size := 0
		for _, c := range got {
			checkVisibleText(t, c.Scheme)
			size += len(c.Scheme)
			for name, value := range c.Params {
				checkVisibleText(t, name)
				size += len(value)
			}
		}
		// A letter may be longer in lower case.
		if size > 3*len(header) {
			t.Errorf("%d bytes out of %d", size, len(header))
		}
		if len(realm) > 2<<10 {
			return
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(realm)
		well := dialRefused(t, http.StatusForbidden, "WWW-Authenticate", `Basic, Bearer realm="`+quoted+`", error=x`).Challenges
		if len(well) != 2 || well[1].Params["realm"] != realm || well[1].Params["error"] != "x" {
			t.Errorf("realm %q is read as %+v", realm, well)
		}
	})
}

func checkVisibleText(t *testing.T, text string) {
	t.Helper()
	if text == "" || strings.ContainsAny(text, " \t,;=") || text != strings.ToLower(text) {
		t.Errorf("%q is no word in lower case", text)
	}
}

// A pause is between zero and one day for any value; whole seconds are exact.
func FuzzRetryAfter(f *testing.F) {
	f.Add("7", "", uint16(7))
	f.Add("Sat, 21 Nov 2026 10:00:09 GMT", "Sat, 21 Nov 2026 10:00:00 GMT", uint16(0))
	f.Add("1e300", "", uint16(65535))
	f.Fuzz(func(t *testing.T, after, date string, seconds uint16) {
		const day = 24 * time.Hour
		if got := dialRefused(t, http.StatusTooManyRequests, "Retry-After", after, "Date", date).RetryAfter; got < 0 || got > day {
			t.Errorf("%q at %q is %v", after, date, got)
		}
		got := dialRefused(t, http.StatusServiceUnavailable, "Retry-After", " "+strconv.Itoa(int(seconds))+" ").RetryAfter
		if want := time.Duration(seconds) * time.Second; got != want {
			t.Errorf("%d seconds are %v", seconds, got)
		}
	})
}
