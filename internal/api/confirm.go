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
	"GET /api/v1/agents/{id}/mcp_config":                       "it can hold the agent's credentials",
	"PATCH /api/v1/connectors/{id}":                            "it changes credentials, and where they go",
	"DELETE /api/v1/connectors/{id}":                           "its credentials are gone for good",
	"PUT /api/v1/connectors/{id}/credential":                   "it replaces what opens a server",
	"DELETE /api/v1/connectors/{id}/credential":                "what opens a server is gone for good",
	"PUT /api/v1/connectors/{id}/agents/{agent}/credential":    "it replaces what opens a server",
	"DELETE /api/v1/connectors/{id}/agents/{agent}/credential": "what opens a server is gone for good",
	"POST /api/v1/connectors/{id}/connect":                     "another account takes the place of the one that is there",
	"POST /api/v1/import":                                      "it changes credentials of connectors that are there",
	"DELETE /api/v1/agents/{id}":                               "its credentials are gone for good",
	"POST /api/v1/agents/{id}/tokens":                          "a token stays when its maker has gone",
	"POST /api/v1/api_keys":                                    "a key stays when its maker has gone",
	"POST /api/v1/members":                                     "somebody gets in",
	"PATCH /api/v1/members/{id}":                               "somebody may do more, or less",
	"DELETE /api/v1/members/{id}":                              "somebody is shut out",
	"DELETE /api/v1/members/{id}/second_factor":                "a password alone opens afterwards",
	"POST /api/v1/invitations":                                 "somebody gets in, perhaps as an owner",
	"POST /api/v1/invitations/{id}/send":                       "a new link, which lets somebody in",
	"PATCH /api/v1/tenant":                                     "who needs a second factor, what is kept of calls and who reads it, is said here",
	"PATCH /api/v1/sso":                                        "it says who signs in, and what they may do",
	"DELETE /api/v1/sso":                                       "it shuts out who signs in there",
	"POST /api/v1/sso/domains/verify":                          "the domain's people sign in at the provider from then on",
	"POST /api/v1/sso/domains/release":                         "it shuts out who signs in there",
	"POST /api/v1/webhooks/{id}/rotate_secret":                 "the key that signs changes, and the new one is shown",
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
