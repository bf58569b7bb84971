package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// soakAgent calls with a token of its own.
type soakAgent struct {
	*soak
	slug, token string
	sessions    map[string]string // of the handshake era, by the address' path
}

// The addresses of an agent: that of all connectors, and each one's.
const aggregated = "/mcp"

// begin opens a session of the handshake era at each address.
func (a *soakAgent) begin(ctx context.Context) error {
	for _, path := range []string{aggregated, "/mcp/old", "/mcp/modern", "/mcp/shared"} {
		if err := a.greet(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (a *soakAgent) greet(ctx context.Context, path string) error {
	header, err := a.said(ctx, path, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`)
	if err != nil {
		return err
	}
	a.sessions[path] = header.Get("Mcp-Session-Id")
	_, err = a.said(ctx, path, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return err
}

// said sends a message of the handshake era whose answer says nothing.
func (a *soakAgent) said(ctx context.Context, path, body string) (http.Header, error) {
	r, err := a.request(ctx, path, []byte(body), nil)
	if err != nil {
		return nil, err
	}
	response, err := a.load.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s at %s: %d %s", body, path, response.StatusCode, text)
	}
	return response.Header, err
}

// request is a message to Patchbay. modern: the method and the tool's name, which that era repeats in the header.
func (a *soakAgent) request(ctx context.Context, path string, body []byte, modern []string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.patchbay.address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + a.token},
	}
	if modern == nil {
		r.Header["Mcp-Protocol-Version"] = []string{"2025-11-25"}
		if session := a.sessions[path]; session != "" {
			r.Header["Mcp-Session-Id"] = []string{session}
		}
		return r, nil
	}
	r.Header["Mcp-Protocol-Version"] = []string{"2026-07-28"}
	r.Header["Mcp-Method"], r.Header["Mcp-Name"] = modern[:1], modern[1:]
	return r, nil
}
