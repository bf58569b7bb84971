package apiserver_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/apiserver"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
)

// The document's servers are addresses like any other: each request passes the egress rules.
func TestCall_FollowsTheEgressRules(t *testing.T) {
	t.Parallel()
	asked := 0
	var own string
	session, bindings := openSession(t, func(http.ResponseWriter, *http.Request) { asked++ }, func(s *apiserver.Server) {
		s.Client, own = safehttp.New(safehttp.Options{Mode: safehttp.Public}).Client(), s.Credential.Origin
	})
	for server, want := range map[string]string{
		own: "The address 127.0.0.1 is loopback.", "http://localhost:1": "The name localhost is internal.", "http://169.254.169.254": "The address 169.254.169.254 is link-local.",
		"http://10.1.2.3": "The address 10.1.2.3 is private.", "http://[::ffff:127.0.0.1]": "isn't in its usual form.", "http://0177.0.0.1": "The host 0177.0.0.1 is a number",
		"http://2130706433": "The host 2130706433 is a number", "http://[fd00::1]": "The address fd00::1 is private.", "https://[::1]": "The address ::1 is loopback.",
	} {
		binding := strings.Replace(string(bindings["getNote"]), own, server, 1)
		_, err := session.Call(t.Context(), mcp.Call{Name: "getNote", Arguments: json.RawMessage(`{"id":"1"}`), Meta: json.RawMessage(binding)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", server, err, want)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests were sent", asked)
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
