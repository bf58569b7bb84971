package patchbay

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// UpdateSSO changes the tenant's single sign-on. It needs an owner's key.
func (p Patchbay) UpdateSSO(ctx context.Context, change map[string]any) error {
	return p.callAPI(ctx, http.MethodPatch, "/sso", change, nil)
}

// FindAgent returns the slug of the newest agent with a name that ends like this.
func (p Patchbay) FindAgent(ctx context.Context, name string) (string, error) {
	var found struct {
		Items []struct{ Slug, Name string } `json:"items"`
	}
	if err := p.callAPI(ctx, http.MethodGet, "/agents?limit=200", nil, &found); err != nil {
		return "", fmt.Errorf("list the agents: %w", err)
	}
	for _, agent := range found.Items {
		if strings.HasSuffix(agent.Name, name) {
			return agent.Slug, nil
		}
	}
	return "", fmt.Errorf("no agent is named %s", name)
}

// GrantConnector lets an agent call every tool of a connector, without approval.
func (p Patchbay) GrantConnector(ctx context.Context, agent, connector string) error {
	if err := p.callAPI(ctx, http.MethodPut, "/agents/"+agent+"/connectors/"+connector, map[string]any{"tools": "all"}, nil); err != nil {
		return fmt.Errorf("grant the connector %s: %w", connector, err)
	}
	return nil
}

// SyncAs syncs with an agent's account and returns the number of tools.
func (p Patchbay) SyncAs(ctx context.Context, connector, agent string) (int, error) {
	var run struct {
		Total int `json:"tools_total"`
	}
	err := p.callAPI(ctx, http.MethodPost, "/connectors/"+connector+"/sync_tools", map[string]any{"agent": agent}, &run)
	return run.Total, err
}
