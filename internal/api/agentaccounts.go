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
	ConnectorID string        `json:"connector_id" format:"uuid"`
	Connector   string        `json:"connector" doc:"The connector's slug."`
	Name        string        `json:"name" doc:"The connector's name."`
	Enabled     bool          `json:"enabled" doc:"Whether the connector is enabled."`
	AuthType    string        `json:"auth_type" enum:"bearer,api_key,basic,oauth2,client_credentials,private_key_jwt" doc:"How the connector authenticates. oauth2 accounts are connected, others entered."`
	State       string        `json:"state" enum:"missing,active,expired,refresh_failed,revoked" doc:"missing: none stored. expired, revoked: must be reconnected. refresh_failed: will be retried."`
	Account     string        `json:"account" doc:"The account's name, if known."`
	Identity    *identityJSON `json:"identity" doc:"The oauth2 account by ID token or userinfo. Null if unknown."`
	Since       *time.Time    `json:"since" doc:"When it was connected. Null if missing."`
	Error       *string       `json:"error" doc:"Null if none."`
	URL         string        `json:"url" doc:"The dashboard page to connect it: the member's own, or the connector's for admins."`

	Upstream *upstreamSaidJSON `json:"upstream" doc:"The server's response when the account failed or ended. Null if none."`
}

// TransformSchema implements huma.SchemaTransformer.
func (agentAccountJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "upstream", "identity")
}

const aboutAgentAccounts = `Accounts at granted connectors with one account per agent, including missing ones, by name. At most 500 in one page: next_cursor is always null.
Requires admin, or ownership of the agent.`

func (h *Handler) mountAgentAccounts() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/accounts", id: "listAgentAccounts", tag: "Agents",
		summary: "List an agent's accounts", description: aboutAgentAccounts, permission: connectors.PermManage, ownerPermission: connectors.PermRead,
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
		AuthType: string(a.AuthType), State: string(a.State()), Account: a.Account, Identity: viewIdentity(a.Identity), Since: a.Since,
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
