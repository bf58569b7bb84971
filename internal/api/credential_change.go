package api

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/manage"
)

// credentialPatch changes an account.
type credentialPatch struct {
	Name  *string `json:"name,omitempty" maxLength:"48" doc:"The account's new name, also in the grants that use it. An owner with several accounts names each."`
	Syncs *bool   `json:"syncs,omitempty" doc:"true: syncs of the connector use it from now on. false changes nothing: choose another account."`
}

type changeCredentialInput struct {
	ConnectorPath
	AccountQuery
	JSON requestBody[credentialPatch]
}

func (h *Handler) changeCredential(ctx context.Context, actor auth.Actor, in *changeCredentialInput) (*noContent, error) {
	return nil, h.patchCredential(ctx, actor, manage.AccountRef{Connector: in.ref(), Name: in.Account}, in.JSON)
}

type changeAgentCredentialInput struct {
	AgentCredentialPath
	AccountQuery
	JSON requestBody[credentialPatch]
}

func (h *Handler) changeAgentCredential(ctx context.Context, actor auth.Actor, in *changeAgentCredentialInput) (*noContent, error) {
	return nil, h.patchCredential(ctx, actor, manage.AccountRef{Connector: in.ref(), Agent: in.agentRef(), Name: in.Account}, in.JSON)
}

func (h *Handler) patchCredential(ctx context.Context, actor auth.Actor, of manage.AccountRef, body requestBody[credentialPatch]) error {
	patch, err := body.readJSON()
	if err != nil {
		return h.orNotFound(ctx, actor, of.Connector, of.Agent, err)
	}
	var change manage.AccountChange
	setIfPresent(&change.Name, patch.Name)
	setIfPresent(&change.Syncs, patch.Syncs)
	return h.registry.ChangeAccount(ctx, actor, of, change)
}
