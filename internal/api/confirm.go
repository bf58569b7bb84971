package api

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"patchbay/internal/auth"
)

// dangerous are the operations that need a recently confirmed session, with the reason, as in the dashboard.
// API keys are exempt, because there is no person to ask. Reading the audit log by pages is not dangerous,
// since the dashboard shows the same; the dashboard's exports are.
var dangerousOperations = map[string]string{
	"GET /api/v1/agents/{id}/mcp_config":                       "the response can contain the agent's credentials",
	"PATCH /api/v1/connectors/{id}":                            "can change credentials and where they are sent",
	"DELETE /api/v1/connectors/{id}":                           "permanently deletes its credentials",
	"PUT /api/v1/connectors/{id}/credential":                   "replaces a credential",
	"DELETE /api/v1/connectors/{id}/credential":                "permanently deletes a credential",
	"PUT /api/v1/connectors/{id}/agents/{agent}/credential":    "replaces a credential",
	"DELETE /api/v1/connectors/{id}/agents/{agent}/credential": "permanently deletes a credential",
	"POST /api/v1/connectors/{id}/connect":                     "replaces the connected account",
	"POST /api/v1/import":                                      "can change credentials of existing connectors",
	"DELETE /api/v1/agents/{id}":                               "permanently deletes its credentials",
	"POST /api/v1/agents/{id}/tokens":                          "the token outlives its creator's access",
	"POST /api/v1/agents/{id}/workloads":                       "the workload's access outlives its creator's",
	"POST /api/v1/api_keys":                                    "the key outlives its creator's access",
	"POST /api/v1/members":                                     "gives a person access",
	"PATCH /api/v1/members/{id}":                               "changes a person's permissions",
	"DELETE /api/v1/members/{id}":                              "removes a person's access",
	"DELETE /api/v1/members/{id}/second_factor":                "the account is then protected by its password only",
	"POST /api/v1/invitations":                                 "gives a person access, up to owner",
	"POST /api/v1/invitations/{id}/send":                       "creates a link that gives access",
	"PATCH /api/v1/tenant":                                     "can change two-factor, retention and privacy settings",
	"PATCH /api/v1/sso":                                        "changes who can sign in, and with which role",
	"DELETE /api/v1/sso":                                       "ends single sign-on for its members",
	"POST /api/v1/sso/domains/verify":                          "moves sign-ins of the domain to the provider",
	"POST /api/v1/sso/domains/release":                         "ends single sign-on for its members",
	"POST /api/v1/scim":                                        "the token outlives its creator's access, and changes members",
	"POST /api/v1/scim/rotate_token":                           "ends the provider's token and shows the new one",
	"DELETE /api/v1/scim":                                      "people that the provider removes stay members",
	"POST /api/v1/registries":                                  "the URL outlives its creator's access",
	"PATCH /api/v1/registries/{id}":                            "can show more, and to clients without a token",
	"POST /api/v1/registries/{id}/rotate_address":              "ends the URL of all clients and shows the new one",
	"POST /api/v1/audit_streams":                               "sends the audit log elsewhere",
	"PATCH /api/v1/audit_streams/{id}":                         "can send the audit log elsewhere",
	"DELETE /api/v1/audit_streams/{id}":                        "ends a record of what happens",
	"POST /api/v1/webhooks/{id}/rotate_secret":                 "replaces the signing secret and shows the new one",
}

// requireConfirmation refuses a session that was not confirmed lately.
func (h *Handler) requireConfirmation(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	actor, _ := auth.ActorFrom(ctx.Context())
	if err := h.auth.RequireRecentAuth(actor); err != nil {
		h.respond.Problem(w, r, err)
		return
	}
	next(ctx)
}

// markDangerous adds the check and its documentation to a dangerous operation.
func (h *Handler) markDangerous(op *huma.Operation) {
	why, ok := dangerousOperations[op.Method+" "+op.Path]
	if !ok {
		return
	}
	op.Middlewares = append(op.Middlewares, h.requireConfirmation)
	op.Extensions["x-reauthentication"] = why
}
