package main

import (
	"encoding/json"
	"net/http"
)

// clientDocument answers who we are to authorization servers that take a client's URL for its id. It holds no secret, and it
// changes with the base URL only.
func (h *house) clientDocument(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(h.connect.Document())
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(body) // a caller that has gone needs no answer
}
