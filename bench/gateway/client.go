package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// callAPI sends a request to the JSON API and decodes the response into into, which may be nil.
func (b *bench) callAPI(ctx context.Context, method, path string, body, into any) error {
	return b.exchangeJSON(ctx, method, b.patchbay.address+"/api/v1"+path, "Bearer "+b.key, body, into)
}

// askUpstream queries the MCP server behind Patchbay about the requests it has received.
func (b *bench) askUpstream(ctx context.Context, method, path string, body, into any) error {
	return b.exchangeJSON(ctx, method, b.upstream.address+path, "", body, into)
}

func (b *bench) exchangeJSON(ctx context.Context, method, url, authorization string, body, into any) error {
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, payload)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", authorization)
	r.Header.Set("Content-Type", "application/json")
	text, err := b.readResponse(r)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// readResponse returns the body of a successful response.
func (b *bench) readResponse(r *http.Request) (string, error) {
	response, err := b.load.client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d %s", r.Method, r.URL.Path, response.StatusCode, text)
	}
	return string(text), err
}

// mockStats returns the mock's counters.
func (b *bench) mockStats(ctx context.Context) (s mockStats, err error) {
	return s, b.askUpstream(ctx, "GET", "/stats", nil, &s)
}
