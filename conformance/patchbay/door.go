package patchbay

import (
	"context"
	"fmt"
	"net/http"
)

// Door is where one agent meets one connector.
type Door struct {
	URL   string
	Token string
}

// OpenDoor makes an agent that may call every tool of a connector without asking anybody.
func (p Patchbay) OpenDoor(ctx context.Context, connector, name string) (Door, error) {
	agent := map[string]any{"name": name, "slug": name, "approval": "auto"}
	var made struct {
		ID string `json:"id"`
	}
	if err := p.call(ctx, http.MethodPost, "/agents", agent, &made); err != nil {
		return Door{}, fmt.Errorf("create the agent: %w", err)
	}
	grant := map[string]any{"tools": "all"}
	if err := p.call(ctx, http.MethodPut, "/agents/"+made.ID+"/connectors/"+connector, grant, nil); err != nil {
		return Door{}, fmt.Errorf("grant the connector: %w", err)
	}
	var token struct {
		Token string `json:"token"`
	}
	if err := p.call(ctx, http.MethodPost, "/agents/"+made.ID+"/tokens", map[string]any{}, &token); err != nil {
		return Door{}, fmt.Errorf("make the agent's token: %w", err)
	}
	return Door{URL: p.URL + "/mcp/" + connector, Token: token.Token}, nil
}

// way leads to a Patchbay on this machine.
var way http.Transport

// RoundTrip is for an http.Client that the agent uses: every request carries the token.
func (d Door) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+d.Token)
	return way.RoundTrip(r)
}
