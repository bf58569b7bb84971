package manifest

import (
	"context"
	"errors"
	"net/http"

	"patchbay/client"
)

// pageSize is how many items are asked for at once: as many as the API gives.
const pageSize = 200

// State is what an installation has.
type State struct {
	Connectors map[string]client.Connector             // by slug
	Agents     map[string]client.Agent                 // by slug
	Grants     map[string]map[string]client.AgentGrant // by agent and connector; only of the agents that were asked for
	Tools      map[string]map[string]client.Tool       // by connector and the server's names; only of the connectors that were asked for
}

// Of says of which agents the grants, and of which connectors the tools are wanted. nil: of all.
type Of struct {
	Agents, Connectors func(slug string) bool
}

// Fetch reads what the installation has: all connectors and agents, and of some the grants and the tools.
func Fetch(ctx context.Context, api *client.Client, of Of) (State, error) {
	s := State{
		Connectors: map[string]client.Connector{}, Agents: map[string]client.Agent{},
		Grants: map[string]map[string]client.AgentGrant{}, Tools: map[string]map[string]client.Tool{},
	}
	for c, err := range api.AllConnectors(ctx, client.ListConnectorsQuery{Limit: pageSize}) {
		if err != nil {
			return State{}, err
		}
		s.Connectors[c.Slug] = c
	}
	for a, err := range api.AllAgents(ctx, client.ListAgentsQuery{Limit: pageSize}) {
		if err != nil {
			return State{}, err
		}
		s.Agents[a.Slug] = a
	}
	for slug := range s.Agents {
		if of.Agents != nil && !of.Agents(slug) {
			continue
		}
		s.Grants[slug] = map[string]client.AgentGrant{}
		for g, err := range api.AllAgentConnectors(ctx, slug, client.ListAgentConnectorsQuery{Limit: pageSize}) {
			if err != nil {
				return State{}, err
			}
			s.Grants[slug][g.Connector] = g
		}
	}
	for slug := range s.Connectors {
		if of.Connectors != nil && !of.Connectors(slug) {
			continue
		}
		tools, err := fetchTools(ctx, api, slug)
		if err != nil {
			return State{}, err
		}
		s.Tools[slug] = tools
	}
	return s, nil
}

// sameShared and sameOwn ask whether a stored secret is this one. A place that takes no such secret has another.
func sameShared(ctx context.Context, api *client.Client, connector string, s client.SecretPut) (bool, error) {
	return told(api.CompareCredential(ctx, connector, s))
}

func sameOwn(ctx context.Context, api *client.Client, connector, agent string, s client.SecretPut) (bool, error) {
	return told(api.CompareAgentCredential(ctx, connector, agent, s))
}

func told(answer client.Compared, err error) (bool, error) {
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusConflict {
		return false, nil
	}
	return answer.Same, err
}
