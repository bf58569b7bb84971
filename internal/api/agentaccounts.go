package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// agentAccountJSON is an agent's account at a connector with per-agent accounts, connected or missing.
type agentAccountJSON struct {
	ConnectorID string     `json:"connector_id" format:"uuid"`
	Connector   string     `json:"connector" doc:"The connector's slug."`
	Name        string     `json:"name" doc:"The connector's name."`
	Enabled     bool       `json:"enabled" doc:"Whether the connector is enabled."`
	AuthType    string     `json:"auth_type" enum:"bearer,api_key,basic,oauth2,client_credentials,private_key_jwt" doc:"How it signs in. An account of oauth2 is connected, any other is entered."`
	State       string     `json:"state" enum:"missing,active,expired,refresh_failed,revoked" doc:"missing: nothing is there. expired and revoked: it is dead until a person connects it again. refresh_failed: it is tried again."`
	Account     string     `json:"account" doc:"Who it is there, where known."`
	Since       *time.Time `json:"since" doc:"When it was connected; null: it is missing."`
	Error       *string    `json:"error" doc:"The account's error; null: none is known."`
	URL         string     `json:"url" doc:"The page where a person who signs in connects it: the member's own, or the connector's, where admins do."`

	Upstream *upstreamSaidJSON `json:"upstream" doc:"What the server said when the account failed or ended, with error; null: nothing."`
}

// TransformSchema implements huma.SchemaTransformer.
func (agentAccountJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "upstream")
}

const aboutAgentAccounts = `What the agent has, and what it still misses, at the connectors that were granted to it and want an account of each agent, by name; 500 at most, in one answer: next_cursor is always null.
It is for those who manage, and for the member whose agent it is.`

func (h *Handler) mountAgentAccounts() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/accounts", id: "listAgentAccounts", tag: "Agents",
		summary: "List the accounts that an agent has and misses", description: aboutAgentAccounts, permission: connectors.PermManage, ownerPermission: connectors.PermRead,
	}, h.listAgentAccounts)
}

func (h *Handler) listAgentAccounts(ctx context.Context, actor auth.Actor, in *AgentPath) (*response[list[agentAccountJSON]], error) {
	var ofMember bool
	var accounts []store.AgentAccount
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		a, err := tx.Agents().Get(ctx, in.ref())
		if err != nil {
			return err
		}
		_, err = tx.Accounts().AgentMember(ctx, a.ID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		ofMember = err == nil
		accounts, err = tx.Accounts().AgentAccounts(ctx, a.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(store.List[store.AgentAccount]{Items: accounts}, func(one store.AgentAccount) agentAccountJSON {
		return h.viewAgentAccount(one, ofMember)
	}), nil
}

func (h *Handler) viewAgentAccount(a store.AgentAccount, ofMember bool) agentAccountJSON {
	out := agentAccountJSON{
		ConnectorID: a.ConnectorID.String(), Connector: a.ConnectorSlug, Name: a.ConnectorName, Enabled: a.ConnectorEnabled,
		AuthType: string(a.AuthType), State: string(a.State()), Account: a.Account, Since: a.Since,
		Upstream: viewUpstreamSaid(a.Said),
		URL:      h.baseURL + "/connectors/" + a.ConnectorSlug + "/credentials#credential-" + a.AgentSlug,
	}
	if !a.IsStored() {
		out.State = "missing"
	}
	if a.Error != "" {
		out.Error = &a.Error
	}
	if ofMember {
		out.URL = h.baseURL + "/account/connections/" + a.AgentID.String() + "/" + a.ConnectorID.String()
	}
	return out
}
