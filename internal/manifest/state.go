package manifest

import (
	"context"
	"errors"
	"net/http"

	"patchbay/client"
)

// pageSize is the API's maximum.
const pageSize = 200

// State is the state of an installation.
type State struct {
	Connectors map[string]client.Connector             // by slug
	Agents     map[string]client.Agent                 // by slug
	Grants     map[string]map[string]client.AgentGrant // by agent and connector, within the Scope
	Tools      map[string]map[string]client.Tool       // by connector and the server's tool names, within the Scope
	APIs       map[string]APIState                     // by connector, within the Scope
	Accounts   map[string][]string                     // names of the shared accounts by connector, within the Scope
}

// Scope selects the agents with grants, the connectors with tools, the HTTP APIs and the connectors with accounts that are read. nil: all.
type Scope struct {
	Agents, Connectors, APIs, Accounts func(slug string) bool
}

// Fetch reads all connectors and agents, and the grants and tools in scope.
func Fetch(ctx context.Context, api *client.Client, scope Scope) (State, error) {
	s := State{
		Connectors: map[string]client.Connector{}, Agents: map[string]client.Agent{},
		Grants: map[string]map[string]client.AgentGrant{}, Tools: map[string]map[string]client.Tool{}, APIs: map[string]APIState{},
		Accounts: map[string][]string{},
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
		if scope.Agents != nil && !scope.Agents(slug) {
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
	for slug, c := range s.Connectors {
		if c.Kind != kindHTTP || scope.APIs != nil && !scope.APIs(slug) {
			continue
		}
		api, err := fetchAPI(ctx, api, slug)
		if err != nil {
			return State{}, err
		}
		s.APIs[slug] = api
	}
	for slug, c := range s.Connectors {
		if c.CredentialMode != "shared" || secretsByType[c.Auth.Type] == nil || scope.Accounts != nil && !scope.Accounts(slug) {
			continue
		}
		for stored, err := range api.AllCredentials(ctx, slug, client.ListCredentialsQuery{Limit: pageSize}) {
			if err != nil {
				return State{}, err
			}
			if stored.AgentID == nil {
				s.Accounts[slug] = append(s.Accounts[slug], stored.Name)
			}
		}
	}
	for slug := range s.Connectors {
		if scope.Connectors != nil && !scope.Connectors(slug) {
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

// compareResult reports whether a stored secret equals. A conflict means that it does not.
func compareResult(answer client.Compared, err error) (bool, error) {
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusConflict {
		return false, nil
	}
	return answer.Same, err
}
