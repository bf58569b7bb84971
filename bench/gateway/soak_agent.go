package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// soakAgent is an agent with its own token.
type soakAgent struct {
	*soakRun
	slug, token string
	sessions    map[string]string // legacy session ids by path
}

// mcpPath is the address of all connectors.
const mcpPath = "/mcp"

// openSessions opens a legacy session at each address.
func (a *soakAgent) openSessions(ctx context.Context) error {
	for _, path := range []string{mcpPath, "/mcp/old", "/mcp/modern", "/mcp/shared"} {
		if err := a.initialize(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

func (a *soakAgent) initialize(ctx context.Context, path string) error {
	header, err := a.sendMessage(ctx, path, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}}`)
	if err != nil {
		return err
	}
	a.sessions[path] = header.Get("Mcp-Session-Id")
	_, err = a.sendMessage(ctx, path, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return err
}

// sendMessage sends a legacy message and discards the response body.
func (a *soakAgent) sendMessage(ctx context.Context, path, body string) (http.Header, error) {
	r, err := a.newRequest(ctx, path, []byte(body), nil)
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

// newRequest returns a request to Patchbay. modern holds the method and the tool name for the headers of that
// era; nil: legacy.
func (a *soakAgent) newRequest(ctx context.Context, path string, body []byte, modern []string) (*http.Request, error) {
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
