package client_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/client"
)

func TestAsk_ResolvesPath(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"connectors":                 "/gate/api/v1/connectors",
		"/connectors?status=failing": "/gate/api/v1/connectors?status=failing",
		"/api/v1/connectors":         "/gate/api/v1/connectors",
		"api/v1/connectors":          "/gate/api/v1/connectors",
		"connectors/a%2Fb":           "/gate/api/v1/connectors/a%2Fb",
		"/openapi.json":              "/gate/openapi.json",
		"https://patchbay.example.com/gate/api/v1/audit_events?limit=1": "/gate/api/v1/audit_events?limit=1",
	} {
		asked := ""
		c, err := client.New("https://patchbay.example.com/gate", "pb_key_x", client.WithHTTPClient(&http.Client{Transport: handlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.String()
			if r.Method != http.MethodDelete || r.Header.Get("Authorization") != "Bearer pb_key_x" {
				t.Errorf("%s with %v", r.Method, r.Header)
			}
			_, _ = w.Write([]byte(`{}`))
		})}))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Ask(t.Context(), http.MethodDelete, written, nil)
		if err != nil || string(answer) != "{}" || asked != "https://patchbay.example.com"+want {
			t.Errorf("%s: %s is asked for, %s, %v", written, asked, answer, err)
		}
	}
}

// The key is sent with every request.
func TestAsk_RefusesOtherHosts(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked for") })
	for written, want := range map[string]string{
		"https://elsewhere.example/api/v1/connectors":        "the API key is sent only there",
		"//elsewhere.example/api/v1/connectors":              "the API key is sent only there",
		"http://patchbay.example.com/api/v1/connectors":      "the API key is sent only there",
		"https://patchbay.example.com:444/api/v1/connectors": "the API key is sent only there",
		"https://me@patchbay.example.com/api/v1/connectors":  "is not an API path",
		"mailto:me":                        "is not an API path",
		"connectors/../../../mcp/admin":    "must not contain . or ..",
		"/api/v1/%2e%2e/%2E%2e/mcp/admin":  "must not contain . or ..",
		"connectors/{id}":                  "replace it with a value",
		"/api/v1/connectors/{id}/sync?x=1": "replace it with a value",
	} {
		if answer, err := c.Ask(t.Context(), http.MethodGet, written, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %q", written, answer, err, want)
		}
	}
}
