package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"patchbay/internal/connect"
	"patchbay/internal/oauth"
)

func TestClientMetadata_HasOwnURLAndCallback(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"": "https://patchbay.example.com/oauth/client-metadata.json",
		"https://elsewhere.example.com/client.json": "https://elsewhere.example.com/client.json",
	} {
		h := &app{connect: connect.New(connect.Options{BaseURL: "https://patchbay.example.com", CIMDURL: set})}
		rec := httptest.NewRecorder()
		h.serveClientMetadata(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/oauth/client-metadata.json", nil))
		var doc oauth.ClientDocument
		if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
			t.Fatalf("%v: %s", err, rec.Body)
		}
		if doc.ClientID != want || len(doc.RedirectURIs) != 1 || doc.RedirectURIs[0] != "https://patchbay.example.com/oauth/callback" {
			t.Errorf("%s", rec.Body)
		}
		if kind, cache := rec.Header().Get("Content-Type"), rec.Header().Get("Cache-Control"); kind != "application/json" || cache != "public, max-age=300" {
			t.Errorf("%s, %s", kind, cache)
		}
	}
}
