package patchbay

import (
	"context"
	"fmt"
	"net/http"
)

// Endpoint is the gateway URL of one connector, with an agent's token.
type Endpoint struct {
	URL   string
	Token string
}

// CreateAgent creates an agent that may call every tool of a connector without approval.
func (p Patchbay) CreateAgent(ctx context.Context, connector, name string) (Endpoint, error) {
	agent := map[string]any{"name": name, "slug": name, "approval": "auto"}
	var made struct {
		ID string `json:"id"`
	}
	if err := p.callAPI(ctx, http.MethodPost, "/agents", agent, &made); err != nil {
		return Endpoint{}, fmt.Errorf("create the agent: %w", err)
	}
	grant := map[string]any{"tools": "all"}
	if err := p.callAPI(ctx, http.MethodPut, "/agents/"+made.ID+"/connectors/"+connector, grant, nil); err != nil {
		return Endpoint{}, fmt.Errorf("grant the connector: %w", err)
	}
	var token struct {
		Token string `json:"token"`
	}
	if err := p.callAPI(ctx, http.MethodPost, "/agents/"+made.ID+"/tokens", map[string]any{}, &token); err != nil {
		return Endpoint{}, fmt.Errorf("make the agent's token: %w", err)
	}
	return Endpoint{URL: p.URL + "/mcp/" + connector, Token: token.Token}, nil
}

// localTransport connects to a Patchbay on this machine.
var localTransport http.Transport

// RoundTrip adds the token to every request.
func (d Endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+d.Token)
	return localTransport.RoundTrip(r)
}
