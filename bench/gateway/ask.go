package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// api is one request to the JSON API; into: what it answers, nil for nobody.
func (b *bench) api(ctx context.Context, method, path string, body, into any) error {
	return b.exchange(ctx, method, b.patchbay.address+"/api/v1"+path, "Bearer "+b.key, body, into)
}

// ask is one request to the server that stands behind Patchbay, of what it has seen.
func (b *bench) ask(ctx context.Context, method, path string, body, into any) error {
	return b.exchange(ctx, method, b.upstream.address+path, "", body, into)
}

func (b *bench) exchange(ctx context.Context, method, url, authorization string, body, into any) error {
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
	text, err := b.textOf(r)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// textOf is what a request is answered, where it succeeds.
func (b *bench) textOf(r *http.Request) (string, error) {
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

// seen is what the mock has counted.
func (b *bench) seen(ctx context.Context) (s mockStats, err error) {
	return s, b.ask(ctx, "GET", "/stats", nil, &s)
}
