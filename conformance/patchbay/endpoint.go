package patchbay

import (
	"context"
	"fmt"
	"net/http"
)

// Endpoint is a URL of the gateway, with an agent's token.
type Endpoint struct {
	URL   string
	Token string
}

// CreateAgent creates an agent that may call every tool of a connector without approval. Its endpoint is the connector's.
func (p Patchbay) CreateAgent(ctx context.Context, connector, name string) (Endpoint, error) {
	endpoint, err := p.CreateAggregateAgent(ctx, []string{connector}, name)
	endpoint.URL += "/" + connector
	return endpoint, err
}

// CreateAggregateAgent creates an agent that may call every tool of several connectors without approval. Its endpoint is the
// address of all connectors.
func (p Patchbay) CreateAggregateAgent(ctx context.Context, connectors []string, name string) (Endpoint, error) {
	agent := map[string]any{"name": name, "slug": name, "approval": "auto"}
	var made struct {
		ID string `json:"id"`
	}
	if err := p.callAPI(ctx, http.MethodPost, "/agents", agent, &made); err != nil {
		return Endpoint{}, fmt.Errorf("create the agent: %w", err)
	}
	grant := map[string]any{"tools": "all"}
	for _, connector := range connectors {
		if err := p.callAPI(ctx, http.MethodPut, "/agents/"+made.ID+"/connectors/"+connector, grant, nil); err != nil {
			return Endpoint{}, fmt.Errorf("grant the connector %s: %w", connector, err)
		}
	}
	var token struct {
		Token string `json:"token"`
	}
	if err := p.callAPI(ctx, http.MethodPost, "/agents/"+made.ID+"/tokens", map[string]any{}, &token); err != nil {
		return Endpoint{}, fmt.Errorf("make the agent's token: %w", err)
	}
	return Endpoint{URL: p.URL + "/mcp", Token: token.Token}, nil
}

// localTransport connects to a Patchbay on this machine.
var localTransport http.Transport

// RoundTrip adds the token to every request.
func (d Endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+d.Token)
	return localTransport.RoundTrip(r)
}
