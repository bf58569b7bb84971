package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/conformance/patchbay"
)

// forwardRequest sends a request through the proxy and returns what arrived.
func forwardRequest(t *testing.T, change func(r *http.Request)) (*http.Request, *httptest.Server) {
	t.Helper()
	var arrived *http.Request
	behind := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived = r }))
	t.Cleanup(behind.Close)
	at, err := serveEndpoint(t.Context(), patchbay.Endpoint{URL: behind.URL + "/mcp/a", Token: "pb_agent_1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	change(r)
	res, err := behind.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return arrived, behind
}

func TestForwarder_AddsTokenAndRewritesHost(t *testing.T) {
	t.Parallel()
	got, behind := forwardRequest(t, func(r *http.Request) { r.Header.Set("Origin", "http://"+r.Host) })
	if got.URL.Path != "/mcp/a" || got.Header.Get("Authorization") != "Bearer pb_agent_1" {
		t.Errorf("%s %v", got.URL, got.Header)
	}
	if "http://"+got.Host != behind.URL || got.Header.Get("Origin") != behind.URL {
		t.Errorf("Host %s, Origin %s", got.Host, got.Header.Get("Origin"))
	}
}

func TestForwarder_KeepsOtherHosts(t *testing.T) {
	t.Parallel()
	got, _ := forwardRequest(t, func(r *http.Request) {
		r.Host = "evil.example.com"
		r.Header.Set("Origin", "http://evil.example.com")
	})
	if got.Host != "evil.example.com" || got.Header.Get("Origin") != "http://evil.example.com" {
		t.Errorf("Host %s, Origin %s", got.Host, got.Header.Get("Origin"))
	}
}
