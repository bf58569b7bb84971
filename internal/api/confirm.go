package api

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"patchbay/internal/auth"
)

// dangerous are the operations for which a browser's session must have been confirmed lately, with why: those that are so in the dashboard.
// API keys have nobody to ask, and are not asked. Reading the audit log page by page is not one, since the dashboard's page shows the same unasked; to carry it out
// whole is (the dashboard's exports).
var dangerous = map[string]string{
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

// confirmed refuses a session whose person has not proved lately who they are.
func (h *Handler) confirmed(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	who, _ := auth.ActorFrom(ctx.Context())
	if err := h.auth.RequireConfirmed(who); err != nil {
		h.respond.Problem(w, r, err)
		return
	}
	next(ctx)
}

// asking completes a dangerous operation, and what the document says of it.
func (h *Handler) asking(op *huma.Operation) {
	why, ok := dangerous[op.Method+" "+op.Path]
	if !ok {
		return
	}
	op.Middlewares = append(op.Middlewares, h.confirmed)
	op.Extensions["x-reauthentication"] = why
}
