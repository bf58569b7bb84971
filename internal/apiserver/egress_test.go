package apiserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/apiserver"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
)

// The document's servers are addresses like any other: each request passes the egress rules, and the caller reads which one refused.
func TestCall_FollowsTheEgressRules(t *testing.T) {
	t.Parallel()
	const allow = " The operator can allow it in PATCHBAY_EGRESS_ALLOW."
	asked := 0
	var own string
	session, bindings := openSession(t, func(http.ResponseWriter, *http.Request) { asked++ }, func(s *apiserver.Server) {
		s.Client, own = safehttp.New(safehttp.Options{Mode: safehttp.Public}).Client(), s.Credential.Origin
	})
	for server, want := range map[string]string{
		own:                        "The address 127.0.0.1 is loopback." + allow,
		"http://localhost:1":       "The name localhost is internal." + allow,
		"http://169.254.169.254":   "The address 169.254.169.254 is link-local." + allow,
		"http://10.1.2.3":          "The address 10.1.2.3 is private." + allow,
		"https://192.168.0.1:8443": "The address 192.168.0.1 is private." + allow,
		"http://[::ffff:7f00:1]":   "The address ::ffff:7f00:1 isn't in canonical form.",
		"http://0177.0.0.1":        "The host 0177.0.0.1 is a number; use an address like 192.0.2.1.",
		"http://2130706433":        "The host 2130706433 is a number; use an address like 192.0.2.1.",
		"http://api.example.com":   "The URL of api.example.com must begin with https://. The operator can allow http in PATCHBAY_EGRESS_ALLOW.",
		"https://db.internal":      "The name db.internal is internal." + allow,
		"http://[fd00::1]":         "The address fd00::1 is private." + allow,
		"https://[::1]":            "The address ::1 is loopback." + allow,
	} {
		binding := strings.Replace(string(bindings["getNote"]), own, server, 1)
		_, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: json.RawMessage(binding)})
		if blocked, ok := errors.AsType[*safehttp.BlockedError](err); !ok || blocked.Error() != want {
			t.Errorf("%s: %v, want %s", server, err, want)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests were sent", asked)
	}
}

// An allowed API leads to a private address, by a redirect that is not followed.
func TestCall_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		var asked atomic.Int32
		session, bindings := openSession(t, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Location", "http://10.1.2.3/latest/meta-data")
			w.WriteHeader(status)
		}, func(s *apiserver.Server) { s.Client = safehttp.New(safehttp.Options{Mode: safehttp.Local}).Client() })
		got, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: bindings["getNote"]})
		if err != nil {
			t.Errorf("%d: %v", status, err)
			continue
		}
		want := fmt.Sprintf(`[{"type":"text","text":"HTTP %d %s."}]`, status, http.StatusText(status))
		if string(got.Content) != want || !got.IsError || asked.Load() != 1 {
			t.Errorf("%d: %d requests, the answer is %s, want %s", status, asked.Load(), got.Content, want)
		}
	}
}

func TestCall_StaysAtTheServerOfItsBinding(t *testing.T) {
	t.Parallel()
	foreign := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { foreign++ }))
	t.Cleanup(other.Close)
	asked := 0
	session, bindings := openSession(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Link", "<"+other.URL+"/v2/notes/1>; rel=next")
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v2/notes/away" {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		_, _ = w.Write([]byte(`[1]`))
	})
	binding := strings.Replace(string(bindings["getNote"]), `"v":1,`, `"v":1,"pages":{"kind":"link","max":5},`, 1)
	for _, id := range []string{"1", "away", "@evil.example/", "http://evil.example", "a?b#c", "a\r\nHost: evil.example"} {
		arguments, _ := json.Marshal(map[string]string{"id": id})
		_, _ = session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: arguments, Meta: json.RawMessage(binding)})
	}
	if foreign != 0 || asked < 2 {
		t.Errorf("another server got %d requests, the API %d", foreign, asked)
	}
}
