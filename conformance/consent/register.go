package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// registerClient registers a public client with one redirect URI (RFC 7591) and returns its id.
func registerClient(ctx context.Context, issuer, redirect string) (string, error) {
	wanted, err := json.Marshal(map[string]any{"client_name": "Conformance", "redirect_uris": []string{redirect}, "token_endpoint_auth_method": "none"})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, issuer+"/oauth/register", bytes.NewReader(wanted))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: &localTransport}).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var made struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || made.ID == "" {
		return "", fmt.Errorf("the registration is answered %s: %w", res.Status, err)
	}
	return made.ID, nil
}
