package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// credentialJSON is a stored credential, without its secret.
type credentialJSON struct {
	AgentID     *string    `json:"agent_id" doc:"Null: the shared one."`
	Type        string     `json:"type" enum:"bearer,api_key,basic,oauth2,client_credentials,private_key_jwt"`
	Status      string     `json:"status" enum:"active,expired,refresh_failed,revoked"`
	Account     string     `json:"account" doc:"Who it is, where known. Whose agent a credential is of alone reads it, and who manages."`
	Scopes      []string   `json:"scopes" nullable:"false"`
	ExpiresAt   *time.Time `json:"expires_at"`
	RefreshedAt *time.Time `json:"refreshed_at"`
	LastUsedAt  *time.Time `json:"last_used_at"`
	Error       *string    `json:"error" doc:"Null: none."`
}

// secretPut is the secret of a connector's auth type. It is never read back.
type secretPut struct {
	Token    secret.Text `json:"token,omitempty" writeOnly:"true" doc:"Of bearer."`
	Key      secret.Text `json:"key,omitempty" writeOnly:"true" doc:"Of api_key."`
	Username string      `json:"username,omitempty" doc:"Of basic."`
	Password secret.Text `json:"password,omitempty" writeOnly:"true" doc:"Of basic."`

	ClientID     string      `json:"client_id,omitempty" doc:"Of client_credentials and private_key_jwt: this credential's own; empty: the connector's."`
	ClientSecret secret.Text `json:"client_secret,omitempty" writeOnly:"true" doc:"Of client_credentials, and of an oauth2 client that was registered by hand."`
	PrivateKey   secret.Text `json:"private_key,omitempty" writeOnly:"true" doc:"Of private_key_jwt: PEM."`
}

func (s secretPut) toSecret() connectors.Secret {
	return connectors.Secret{
		Token: s.Token, Key: s.Key, Username: s.Username, Password: s.Password,
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, PrivateKey: s.PrivateKey,
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
		AgentID:     idText(c.AgentID),
		Type:        string(c.Type),
		Status:      string(c.Status),
		Account:     c.Account,
		Scopes:      c.Scopes,
		ExpiresAt:   toUTC(c.ExpiresAt),
		RefreshedAt: toUTC(c.RefreshedAt),
		LastUsedAt:  toUTC(c.LastUsedAt),
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
		summary: "List a connector's credentials, without their secrets", permission: connectors.PermRead,
	}, h.listCredentials)
	registerOperation(h, operation{
		method: http.MethodPut, path: "/api/v1/connectors/{id}/credential", id: "setCredential", tag: tag,
		summary: "Store the shared credential", permission: connectors.PermManage,
		description: "With oauth2 it is the secret of the connector's own client, in either credential mode; accounts are connected, not entered.",
	}, h.setCredential)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/connectors/{id}/credential", id: "deleteCredential", tag: tag,
		summary: "Delete the shared credential; an account is revoked at its server, too", permission: connectors.PermManage,
	}, h.deleteCredential)
	registerOperation(h, operation{
		method: http.MethodPut, path: "/api/v1/connectors/{id}/agents/{agent}/credential", id: "setAgentCredential", tag: tag,
		summary: "Store an agent's credential", permission: connectors.PermManage, ownerPermission: connectors.PermOperate,
	}, h.setAgentCredential)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/connectors/{id}/agents/{agent}/credential", id: "deleteAgentCredential", tag: tag,
		summary: "Delete an agent's credential; an account is revoked at its server, too", permission: connectors.PermManage, ownerPermission: connectors.PermRead,
	}, h.deleteAgentCredential)
}

type listCredentialsInput struct {
	ConnectorPath
	Paging
}

func (h *Handler) listCredentials(ctx context.Context, actor auth.Actor, in *listCredentialsInput) (*response[list[credentialJSON]], error) {
	var page store.List[connectors.Credential]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, in.ref())
		if err != nil {
			return err
		}
		if page, err = tx.Connectors().Credentials(ctx, c.ID, in.toPage()); err != nil {
			return err
		}
		return actor.HideAccounts(ctx, tx.Accounts(), page.Items)
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewCredential), nil
}

type setCredentialInput struct {
	ConnectorPath
	JSON requestBody[secretPut]
}

func (h *Handler) setCredential(ctx context.Context, actor auth.Actor, in *setCredentialInput) (*noContent, error) {
	return nil, h.putSecret(ctx, actor, in.ref(), nil, in.JSON)
}

type setAgentCredentialInput struct {
	AgentCredentialPath
	JSON requestBody[secretPut]
}

func (h *Handler) setAgentCredential(ctx context.Context, actor auth.Actor, in *setAgentCredentialInput) (*noContent, error) {
	return nil, h.putSecret(ctx, actor, in.ref(), in.agentRef(), in.JSON)
}

func (h *Handler) putSecret(ctx context.Context, actor auth.Actor, c connectors.Ref, agent *connectors.Ref, body requestBody[secretPut]) error {
	put, err := body.readJSON()
	if err != nil {
		return h.orNotFound(ctx, actor, c, agent, err)
	}
	return h.registry.SetCredential(ctx, actor, c, agent, put.toSecret())
}

func (h *Handler) deleteCredential(ctx context.Context, actor auth.Actor, in *ConnectorPath) (*noContent, error) {
	return nil, h.removeCredential(ctx, actor, in.ref(), nil)
}

func (h *Handler) deleteAgentCredential(ctx context.Context, actor auth.Actor, in *AgentCredentialPath) (*noContent, error) {
	return nil, h.removeCredential(ctx, actor, in.ref(), in.agentRef())
}

// removeCredential deletes a secret, or disconnects an account.
func (h *Handler) removeCredential(ctx context.Context, actor auth.Actor, c connectors.Ref, agent *connectors.Ref) error {
	found, err := h.store.Tenant(actor.Tenant.ID).Connectors().Get(ctx, c)
	if err != nil {
		return err
	}
	if found.Auth.Type == connectors.AuthOAuth2 {
		return h.connect.Disconnect(ctx, actor, c, agent)
	}
	return h.registry.DeleteCredential(ctx, actor, c, agent)
}
