package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// credentialJSON is what may be told of a stored credential: everything but its secret.
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

// secretPut is the secret of a connector's auth type. It is written, and never read back.
type secretPut struct {
	Token    secret.Text `json:"token,omitempty" writeOnly:"true" doc:"Of bearer."`
	Key      secret.Text `json:"key,omitempty" writeOnly:"true" doc:"Of api_key."`
	Username string      `json:"username,omitempty" doc:"Of basic."`
	Password secret.Text `json:"password,omitempty" writeOnly:"true" doc:"Of basic."`

	ClientID     string      `json:"client_id,omitempty" doc:"Of client_credentials and private_key_jwt: this credential's own; empty: the connector's."`
	ClientSecret secret.Text `json:"client_secret,omitempty" writeOnly:"true" doc:"Of client_credentials, and of an oauth2 client that was registered by hand."`
	PrivateKey   secret.Text `json:"private_key,omitempty" writeOnly:"true" doc:"Of private_key_jwt: PEM."`
}

func (s secretPut) secret() connectors.Secret {
	return connectors.Secret{
		Token: s.Token, Key: s.Key, Username: s.Username, Password: s.Password,
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, PrivateKey: s.PrivateKey,
	}
}

// AgentCredentialPath names an agent's credential.
type AgentCredentialPath struct {
	ConnectorPath
	Agent string `path:"agent" doc:"An agent's id or slug."`
}

func (p AgentCredentialPath) agent() *connectors.Ref {
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
		ExpiresAt:   utc(c.ExpiresAt),
		RefreshedAt: utc(c.RefreshedAt),
		LastUsedAt:  utc(c.LastUsedAt),
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
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/credentials", id: "listCredentials", tag: tag,
		summary: "List a connector's credentials, without their secrets", may: connectors.PermRead,
	}, h.listCredentials)
	register(h, operation{
		method: http.MethodPut, path: "/api/v1/connectors/{id}/credential", id: "setCredential", tag: tag,
		summary: "Store the shared credential", may: connectors.PermManage,
		about: "With oauth2 it is the secret of the connector's own client, in either credential mode; accounts are connected, not entered.",
	}, h.setCredential)
	register(h, operation{
		method: http.MethodDelete, path: "/api/v1/connectors/{id}/credential", id: "deleteCredential", tag: tag,
		summary: "Delete the shared credential; an account is revoked at its server, too", may: connectors.PermManage,
	}, h.deleteCredential)
	register(h, operation{
		method: http.MethodPut, path: "/api/v1/connectors/{id}/agents/{agent}/credential", id: "setAgentCredential", tag: tag,
		summary: "Store an agent's credential", may: connectors.PermManage, own: connectors.PermOperate,
	}, h.setAgentCredential)
	register(h, operation{
		method: http.MethodDelete, path: "/api/v1/connectors/{id}/agents/{agent}/credential", id: "deleteAgentCredential", tag: tag,
		summary: "Delete an agent's credential; an account is revoked at its server, too", may: connectors.PermManage, own: connectors.PermRead,
	}, h.deleteAgentCredential)
}

type listCredentialsInput struct {
	ConnectorPath
	Paging
}

func (h *Handler) listCredentials(ctx context.Context, who auth.Actor, in *listCredentialsInput) (*answer[list[credentialJSON]], error) {
	tenant := h.store.Tenant(who.Tenant.ID)
	c, err := tenant.Connector(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	page, err := tenant.Credentials(ctx, c.ID, in.page())
	if err != nil {
		return nil, err
	}
	if err := who.HideAccounts(ctx, tenant, page.Items); err != nil {
		return nil, err
	}
	return listOf(page, viewCredential), nil
}

type setCredentialInput struct {
	ConnectorPath
	JSON document[secretPut]
}

func (h *Handler) setCredential(ctx context.Context, who auth.Actor, in *setCredentialInput) (*nothing, error) {
	return nil, h.putSecret(ctx, who, in.ref(), nil, in.JSON)
}

type setAgentCredentialInput struct {
	AgentCredentialPath
	JSON document[secretPut]
}

func (h *Handler) setAgentCredential(ctx context.Context, who auth.Actor, in *setAgentCredentialInput) (*nothing, error) {
	return nil, h.putSecret(ctx, who, in.ref(), in.agent(), in.JSON)
}

func (h *Handler) putSecret(ctx context.Context, who auth.Actor, c connectors.Ref, agent *connectors.Ref, body document[secretPut]) error {
	put, err := body.read()
	if err != nil {
		return h.unlessMissing(ctx, who, c, agent, err)
	}
	return h.registry.SetCredential(ctx, who, c, agent, put.secret())
}

func (h *Handler) deleteCredential(ctx context.Context, who auth.Actor, in *ConnectorPath) (*nothing, error) {
	return nil, h.removeCredential(ctx, who, in.ref(), nil)
}

func (h *Handler) deleteAgentCredential(ctx context.Context, who auth.Actor, in *AgentCredentialPath) (*nothing, error) {
	return nil, h.removeCredential(ctx, who, in.ref(), in.agent())
}

// removeCredential deletes what was entered, and disconnects what was connected.
func (h *Handler) removeCredential(ctx context.Context, who auth.Actor, c connectors.Ref, agent *connectors.Ref) error {
	found, err := h.store.Tenant(who.Tenant.ID).Connector(ctx, c)
	if err != nil {
		return err
	}
	if found.Auth.Type == connectors.AuthOAuth2 {
		return h.connect.Disconnect(ctx, who, c, agent)
	}
	return h.registry.DeleteCredential(ctx, who, c, agent)
}
