package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// credentialJSON is a stored credential, without its secret.
type credentialJSON struct {
	Name        string        `json:"name" doc:"The account's name among those of its owner. Empty with status missing, and where the caller may not read it."`
	Syncs       bool          `json:"syncs" doc:"Whether syncs of the connector use it. If no account is marked, they use the only shared one, or the agents' one that was used last."`
	AgentID     *string       `json:"agent_id" doc:"Null if shared."`
	Agent       string        `json:"agent" doc:"The agent's slug. Empty if shared."`
	AgentName   string        `json:"agent_name" doc:"The agent's name. Empty if shared."`
	Type        string        `json:"type" enum:"bearer,api_key,basic,oauth2,client_credentials,private_key_jwt"`
	Status      string        `json:"status" enum:"active,expired,refresh_failed,revoked,missing" doc:"missing: none stored; only in lists with status=missing."`
	Account     string        `json:"account" doc:"The account's name, if known. Visible to managers and the agent's owner."`
	Identity    *identityJSON `json:"identity" doc:"The oauth2 account by ID token or userinfo. Null if unknown. Visible like account."`
	Scopes      []string      `json:"scopes" nullable:"false"`
	ExpiresAt   *time.Time    `json:"expires_at"`
	RefreshedAt *time.Time    `json:"refreshed_at"`
	LastUsedAt  *time.Time    `json:"last_used_at"`
	Error       *string       `json:"error" doc:"Null if none."`

	Upstream *upstreamSaidJSON `json:"upstream" doc:"The server's response when the account failed or ended. Null if none. Its text is visible like account."`
}

// TransformSchema implements huma.SchemaTransformer.
func (credentialJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "upstream", "identity")
}

// secretPut is the secret of a connector's auth type. It is never read back.
type secretPut struct {
	Token    secret.Text `json:"token,omitempty" writeOnly:"true" doc:"For bearer."`
	Key      secret.Text `json:"key,omitempty" writeOnly:"true" doc:"For api_key."`
	Username string      `json:"username,omitempty" doc:"For basic."`
	Password secret.Text `json:"password,omitempty" writeOnly:"true" doc:"For basic."`

	ClientID     string      `json:"client_id,omitempty" doc:"For client_credentials and private_key_jwt: this credential's own client. Empty: the connector's."`
	ClientSecret secret.Text `json:"client_secret,omitempty" writeOnly:"true" doc:"For client_credentials and manually registered oauth2 clients."`
	PrivateKey   secret.Text `json:"private_key,omitempty" writeOnly:"true" doc:"For private_key_jwt, as PEM."`

	WorkloadToken string `json:"workload_token,omitempty" writeOnly:"true" doc:"For client_credentials, in place of client_secret: the name of a token that the operator offers (PATCHBAY_WORKLOAD_TOKENS)."`
}

func (s secretPut) toSecret() connectors.Secret {
	return connectors.Secret{
		Token: s.Token, Key: s.Key, Username: s.Username, Password: s.Password,
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, PrivateKey: s.PrivateKey, WorkloadToken: s.WorkloadToken,
	}
}

// AgentCredentialPath is the path of an agent's credential.
type AgentCredentialPath struct {
	ConnectorPath
	Agent string `path:"agent" doc:"An agent's id or slug."`
}

func (p AgentCredentialPath) agentRef() *connectors.Ref {
	ref := connectors.Ref(p.Agent)
	return &ref
}

func viewCredential(c connectors.Credential) credentialJSON {
	out := credentialJSON{
		Name:        c.Name,
		Syncs:       c.Syncs,
		AgentID:     idText(c.AgentID),
		Agent:       c.AgentSlug,
		AgentName:   c.AgentName,
		Type:        string(c.Type),
		Status:      string(c.Status),
		Account:     c.Account,
		Identity:    viewIdentity(c.Identity),
		Scopes:      c.Scopes,
		ExpiresAt:   toUTC(c.ExpiresAt),
		RefreshedAt: toUTC(c.RefreshedAt),
		LastUsedAt:  toUTC(c.LastUsedAt),
		Upstream:    viewUpstreamSaid(c.Upstream),
	}
	if c.Status == "" {
		out.Status = string(store.AccountMissing)
	}
	if out.Scopes == nil {
		out.Scopes = []string{}
	}
	if c.Error != "" {
		out.Error = &c.Error
	}
	return out
}

func (h *Handler) mountCredentials() {
	const tag = "Credentials"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/credentials", id: "listCredentials", tag: tag,
		summary: "List a connector's credentials, without secrets", permission: connectors.PermRead,
		description: "With status or q, agents' credentials by agent name; otherwise oldest first. A cursor is valid only for the same status and q.",
	}, h.listCredentials)
	registerOperation(h, operation{
		method: http.MethodPut, path: "/api/v1/connectors/{id}/credential", id: "setCredential", tag: tag,
		summary: "Set the shared credential", permission: connectors.PermManage,
		description: "For oauth2, the client secret of the connector's own client, in either credential mode; accounts are connected instead.",
	}, h.setCredential)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/connectors/{id}/credential", id: "deleteCredential", tag: tag,
		summary: "Delete the shared credential and revoke its account", permission: connectors.PermManage,
	}, h.deleteCredential)
	registerOperation(h, operation{
		method: http.MethodPut, path: "/api/v1/connectors/{id}/agents/{agent}/credential", id: "setAgentCredential", tag: tag,
		summary: "Set an agent's credential", permission: connectors.PermManage, ownerPermission: connectors.PermOperate,
	}, h.setAgentCredential)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/connectors/{id}/agents/{agent}/credential", id: "deleteAgentCredential", tag: tag,
		summary: "Delete an agent's credential and revoke its account", permission: connectors.PermManage, ownerPermission: connectors.PermRead,
	}, h.deleteAgentCredential)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/connectors/{id}/credential", id: "changeCredential", tag: tag,
		summary: "Rename a shared account, or choose it for syncs", permission: connectors.PermManage,
	}, h.changeCredential)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/connectors/{id}/agents/{agent}/credential", id: "changeAgentCredential", tag: tag,
		summary: "Rename an agent's account, or choose it for syncs", permission: connectors.PermManage, ownerPermission: connectors.PermOperate,
	}, h.changeAgentCredential)
}

type listCredentialsInput struct {
	ConnectorPath
	Status string `query:"status" enum:"missing,connected,attention" doc:"missing: granted agents without a credential. connected: active ones. attention: inactive ones, and agents' accounts that end within 72 hours."`
	Query  string `query:"q" maxLength:"200" doc:"Part of the agent's name or slug."`
	Paging
}

// credentialHorizon is how early the end of an account needs attention.
const credentialHorizon = 72 * time.Hour

func (h *Handler) listCredentials(ctx context.Context, actor auth.Actor, in *listCredentialsInput) (*response[list[credentialJSON]], error) {
	var page store.List[connectors.Credential]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, in.ref())
		if err != nil {
			return err
		}
		if page, err = in.findCredentials(ctx, tx, c); err != nil {
			return err
		}
		return actor.HideAccounts(ctx, tx.Accounts(), page.Items)
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewCredential), nil
}

func (in *listCredentialsInput) findCredentials(ctx context.Context, tx *store.Tenant, c connectors.Connector) (store.List[connectors.Credential], error) {
	isShared := c.CredentialMode == connectors.CredentialShared
	if in.Status == "" && in.Query == "" || isShared {
		stored, err := tx.Connectors().Credentials(ctx, c.ID, in.toPage())
		if err == nil && isShared {
			stored.Items = in.filterShared(c, stored.Items)
		}
		return stored, err
	}
	filter := store.ConnectorAccountFilter{Connector: c.ID, State: store.AccountState(in.Status), Query: in.Query, EndsSoon: credentialHorizon, Page: in.toPage()}
	if filter.State == store.AccountAny {
		filter.State = store.AccountStored
	}
	found, err := tx.Accounts().ConnectorAccounts(ctx, filter)
	page := store.List[connectors.Credential]{Items: make([]connectors.Credential, len(found.Items)), Next: found.Next}
	for i, one := range found.Items {
		page.Items[i] = one.Credential
	}
	return page, err
}

// filterShared selects among the credentials of a connector with a shared one.
func (in *listCredentialsInput) filterShared(c connectors.Connector, stored []connectors.Credential) []connectors.Credential {
	switch {
	case in.Query != "":
		return nil // it is no agent's
	case in.Status == string(store.AccountMissing):
		if slices.ContainsFunc(stored, func(one connectors.Credential) bool { return one.AgentID == nil }) || in.Cursor != "" || c.Auth.Type == connectors.AuthNone {
			return nil
		}
		return []connectors.Credential{{ConnectorID: c.ID, Type: c.Auth.Type}}
	case in.Status == string(store.AccountConnected):
		return slices.DeleteFunc(stored, func(one connectors.Credential) bool { return one.Status != connectors.CredentialActive })
	case in.Status == string(store.AccountAttention):
		return slices.DeleteFunc(stored, func(one connectors.Credential) bool { return one.Status == connectors.CredentialActive })
	default:
		return stored
	}
}

// AccountQuery names one of several accounts.
type AccountQuery struct {
	Account string `query:"account" maxLength:"48" doc:"The account's name. Empty: the owner's only one."`
}

type setCredentialInput struct {
	ConnectorPath
	AccountQuery
	JSON requestBody[secretPut]
}

func (h *Handler) setCredential(ctx context.Context, actor auth.Actor, in *setCredentialInput) (*noContent, error) {
	return nil, h.putSecret(ctx, actor, manage.AccountRef{Connector: in.ref(), Name: in.Account}, in.JSON)
}

type setAgentCredentialInput struct {
	AgentCredentialPath
	AccountQuery
	JSON requestBody[secretPut]
}

func (h *Handler) setAgentCredential(ctx context.Context, actor auth.Actor, in *setAgentCredentialInput) (*noContent, error) {
	return nil, h.putSecret(ctx, actor, manage.AccountRef{Connector: in.ref(), Agent: in.agentRef(), Name: in.Account}, in.JSON)
}

func (h *Handler) putSecret(ctx context.Context, actor auth.Actor, of manage.AccountRef, body requestBody[secretPut]) error {
	put, err := body.readJSON()
	if err != nil {
		return h.orNotFound(ctx, actor, of.Connector, of.Agent, err)
	}
	return h.registry.SetAccount(ctx, actor, of, put.toSecret())
}

type deleteCredentialInput struct {
	ConnectorPath
	AccountQuery
}

func (h *Handler) deleteCredential(ctx context.Context, actor auth.Actor, in *deleteCredentialInput) (*noContent, error) {
	return nil, h.removeCredential(ctx, actor, manage.AccountRef{Connector: in.ref(), Name: in.Account})
}

type deleteAgentCredentialInput struct {
	AgentCredentialPath
	AccountQuery
}

func (h *Handler) deleteAgentCredential(ctx context.Context, actor auth.Actor, in *deleteAgentCredentialInput) (*noContent, error) {
	return nil, h.removeCredential(ctx, actor, manage.AccountRef{Connector: in.ref(), Agent: in.agentRef(), Name: in.Account})
}

// removeCredential deletes a secret, or disconnects an account.
func (h *Handler) removeCredential(ctx context.Context, actor auth.Actor, of manage.AccountRef) error {
	found, err := h.store.Tenant(actor.Tenant.ID).Connectors().Get(ctx, of.Connector)
	if err != nil {
		return err
	}
	if found.Auth.Type == connectors.AuthOAuth2 {
		return h.connect.DisconnectAccount(ctx, actor, of.Connector, of.Agent, of.Name)
	}
	return h.registry.DeleteAccount(ctx, actor, of)
}
