package main

import (
	"encoding/json"
	"net/http"
)

// serveClientMetadata serves the client metadata document, for authorization servers that accept a URL as
// client_id. It has no secret, and changes only with the base URL.
func (h *app) serveClientMetadata(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(h.connect.Document())
	if err != nil {
		h.refuseRequest(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(body) // the caller may be gone
}
