package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// comparedJSON is what a comparison tells.
type comparedJSON struct {
	Same bool `json:"same" doc:"Whether exactly this secret is stored. False where none is."`
}

func (h *Handler) mountCredentialCompare() {
	const (
		tag   = "Credentials"
		about = "For programs that bring an installation to what a file says, and need to know whether anything differs. It is in the audit log, as credential.compare."
	)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/credential/compare", id: "compareCredential", tag: tag,
		summary: "Tell whether the shared credential is this one", may: connectors.PermManage, about: about,
	}, h.compareCredential)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/agents/{agent}/credential/compare", id: "compareAgentCredential", tag: tag,
		summary: "Tell whether an agent's credential is this one", may: connectors.PermManage, about: about,
	}, h.compareAgentCredential)
}

func (h *Handler) compareCredential(ctx context.Context, who auth.Actor, in *setCredentialInput) (*answer[comparedJSON], error) {
	return h.compareSecret(ctx, who, in.ref(), nil, in.JSON)
}

func (h *Handler) compareAgentCredential(ctx context.Context, who auth.Actor, in *setAgentCredentialInput) (*answer[comparedJSON], error) {
	return h.compareSecret(ctx, who, in.ref(), in.agent(), in.JSON)
}

func (h *Handler) compareSecret(
	ctx context.Context, who auth.Actor, c connectors.Ref, agent *connectors.Ref, body document[secretPut],
) (*answer[comparedJSON], error) {
	put, err := body.read()
	if err != nil {
		return nil, h.unlessMissing(ctx, who, c, agent, err)
	}
	same, err := h.registry.CompareCredential(ctx, who, c, agent, put.secret())
	if err != nil {
		return nil, err
	}
	return &answer[comparedJSON]{Body: comparedJSON{Same: same}}, nil
}
