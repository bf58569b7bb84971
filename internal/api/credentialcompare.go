package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

type comparedJSON struct {
	Same bool `json:"same" doc:"Whether this exact secret is stored."`
}

func (h *Handler) mountCredentialCompare() {
	const (
		tag   = "Credentials"
		about = "For programs that apply a configuration file and need to detect differences. Audited as credential.compare."
	)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/credential/compare", id: "compareCredential", tag: tag,
		summary: "Compare the shared credential with a secret", permission: connectors.PermManage, description: about,
	}, h.compareCredential)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/agents/{agent}/credential/compare", id: "compareAgentCredential", tag: tag,
		summary: "Compare an agent's credential with a secret", permission: connectors.PermManage, description: about,
	}, h.compareAgentCredential)
}

type compareCredentialInput struct {
	ConnectorPath
	AccountQuery
	JSON requestBody[secretPut]
}

func (h *Handler) compareCredential(ctx context.Context, actor auth.Actor, in *compareCredentialInput) (*response[comparedJSON], error) {
	return h.compareSecret(ctx, actor, manage.AccountRef{Connector: in.ref(), Name: in.Account}, in.JSON)
}

type compareAgentCredentialInput struct {
	AgentCredentialPath
	AccountQuery
	JSON requestBody[secretPut]
}

func (h *Handler) compareAgentCredential(ctx context.Context, actor auth.Actor, in *compareAgentCredentialInput) (*response[comparedJSON], error) {
	return h.compareSecret(ctx, actor, manage.AccountRef{Connector: in.ref(), Agent: in.agentRef(), Name: in.Account}, in.JSON)
}

func (h *Handler) compareSecret(
	ctx context.Context, actor auth.Actor, of manage.AccountRef, body requestBody[secretPut],
) (*response[comparedJSON], error) {
	put, err := body.readJSON()
	if err != nil {
		return nil, h.orNotFound(ctx, actor, of.Connector, of.Agent, err)
	}
	same, err := h.registry.CompareAccount(ctx, actor, of, put.toSecret())
	if err != nil {
		return nil, err
	}
	return &response[comparedJSON]{Body: comparedJSON{Same: same}}, nil
}
