package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// harmlessOperations change something without a confirmation, with the reason. A new one needs a row here or
// among the dangerous.
var harmlessOperations = map[string]string{
	"POST /api/v1/connectors":                                        "it adds one, and nothing that is there changes",
	"POST /api/v1/connectors/test":                                   "it changes nothing",
	"POST /api/v1/connectors/{id}/ping":                              "it stores nothing",
	"POST /api/v1/connectors/{id}/sync_tools":                        "it only reads",
	"POST /connectors/{id}/sync_tools":                               "it only reads",
	"PATCH /api/v1/connectors/{id}/credential":                       "no account ends, and the choice can be taken back",
	"PATCH /api/v1/connectors/{id}/agents/{agent}/credential":        "no account ends, and the choice can be taken back",
	"POST /api/v1/sync_tools":                                        "it only reads",
	"POST /api/v1/sync_runs/{id}/cancel":                             "it closes, and another sync can begin",
	"PATCH /api/v1/connectors/{id}/operations":                       "daily work on tools, and each new one waits for review",
	"POST /api/v1/connectors/{id}/endpoints":                         "daily work on tools, and each new one waits for review",
	"PATCH /api/v1/connectors/{id}/endpoints/{name}":                 "daily work on tools, and the change waits for review",
	"DELETE /api/v1/connectors/{id}/endpoints/{name}":                "daily work on tools, which can be taken back and is on record",
	"POST /api/v1/connectors/{id}/acknowledge_tools":                 "no tool changes, and the next loss is told again",
	"POST /api/v1/connectors/{id}/listen":                            "it can be taken back",
	"POST /api/v1/connectors/{id}/credential/compare":                "it shows nothing, and each guess is on record",
	"POST /api/v1/connectors/{id}/agents/{agent}/credential/compare": "it shows nothing, and each guess is on record",
	"POST /api/v1/catalog/{slug}/add":                                "it adds one, and nothing that is there changes",
	"POST /api/v1/agents":                                            "a new one may do nothing yet",
	"PATCH /api/v1/agents/{id}":                                      "its rules can be taken back and are on record",
	"POST /api/v1/connectors/{id}/methods":                           "it stores nothing, and only methods that an admin allowed are sent",
	"POST /api/v1/connectors/{id}/tools/{name}/call":                 "it asks for a confirmation of what may do harm, and is on record",
	"POST /api/v1/agents/{id}/tool_calls":                            "daily work, under the agent's own rules",
	"POST /api/v1/agents/{id}/tool_calls/batch":                      "daily work, under the agent's own rules",
	"POST /api/v1/tool_calls/{id}/approve":                           "daily work, within minutes and of one call",
	"POST /api/v1/tool_calls/{id}/deny":                              "it closes",
	"POST /api/v1/tool_calls/{id}/cancel":                            "it closes",
	"POST /api/v1/notices/read":                                      "a mark",
	"POST /api/v1/webhooks":                                          "notices hold no secret",
	"PATCH /api/v1/webhooks/{id}":                                    "notices hold no secret",
	"DELETE /api/v1/webhooks/{id}":                                   "notices stay in the dashboard",
	"POST /api/v1/webhooks/{id}/test":                                "it sends a trial",
	"POST /api/v1/audit_streams/{id}/test":                           "it sends a trial",
	"DELETE /api/v1/registries/{id}":                                 "it closes, and should be done fast",
	"POST /api/v1/sso/check":                                         "it only looks",
	"POST /api/v1/sso/domains":                                       "a claim opens nothing",
	"POST /api/v1/members/{id}/sign_out":                             "it closes, and should be done fast",
	"POST /api/v1/access_requests":                                   "it grants nothing by itself",
	"POST /api/v1/access_requests/{id}/accept":                       "the same as a grant, which is no dangerous route either",
	"POST /api/v1/access_requests/{id}/refuse":                       "it closes",
	"POST /api/v1/access_requests/{id}/withdraw":                     "it closes",
	"DELETE /api/v1/invitations/{id}":                                "it closes, and should be done fast",
	"DELETE /api/v1/api_keys/{id}":                                   "it closes, and should be done fast",
	"DELETE /api/v1/agents/{id}/clients/{client_id}":                 "it closes, and should be done fast",
	"POST /api/v1/usage/reset":                                       "nothing is deleted, and it is on record",
	"DELETE /api/v1/members/{id}/clients/{client_id}":                "it closes, and should be done fast",
	"DELETE /api/v1/agents/{id}/workloads/{workload}":                "it closes, and should be done fast",
	"DELETE /api/v1/agents/{id}/tokens/{token_id}":                   "it closes, and should be done fast",

	"PATCH /api/v1/connectors/{id}/tools":                                          "daily work on tools, which can be taken back and is on record",
	"PATCH /api/v1/connectors/{id}/tools/{name}":                                   "daily work on tools, which can be taken back and is on record",
	"POST /api/v1/connectors/{id}/tools/{name}/accept":                             "daily work, of which the change itself is the warning",
	"POST /api/v1/connectors/{id}/tools/{name}/reject":                             "it closes",
	"POST /api/v1/connectors/{id}/tools/{name}/keep":                               "agents are served what they were",
	"POST /api/v1/connectors/{id}/tools/{name}/restore":                            "agents are served what they were",
	"POST /api/v1/connectors/{id}/instructions/restore":                            "agents are served what they were",
	"POST /api/v1/connectors/{id}/skills/{uri}/accept":                             "daily work, of which the change itself is the warning",
	"POST /api/v1/connectors/{id}/skills/{uri}/reject":                             "it closes",
	"POST /api/v1/connectors/{id}/skills/{uri}/restore":                            "agents are served what they were",
	"POST /api/v1/tool_changes/decide":                                             "daily work, of which the change itself is the warning",
	"POST /api/v1/connectors/{id}/instructions/accept":                             "daily work, of which the change itself is the warning",
	"POST /api/v1/connectors/{id}/instructions/reject":                             "it closes",
	"POST /api/v1/tool_changes/accept_cosmetic":                                    "no model acts on these",
	"PUT /api/v1/agents/{id}/connectors/{connector}":                               "daily work, which can be taken back and is on record",
	"DELETE /api/v1/agents/{id}/connectors/{connector}":                            "it closes",
	"PUT /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping":          "the agent reads what is left out",
	"POST /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping/preview": "it changes nothing",
	"DELETE /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping":       "the agent may read all of it anyway",
	"DELETE /api/v1/agents/{id}/connectors/{connector}/allowances/{tool}":          "it closes, and should be done fast",
	"POST /api/v1/webhooks/{id}/deliveries/{delivery}/redeliver":                   "the same once more",
}

// dangerousOperations are the operations that the document calls dangerous.
func (w *world) dangerousOperations(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for path, operations := range w.call(t, "", http.MethodGet, "/openapi.json", nil).want(http.StatusOK)["paths"].(map[string]any) {
		for method, op := range operations.(map[string]any) {
			if why, _ := op.(map[string]any)["x-reauthentication"].(string); why != "" {
				all[strings.ToUpper(method)+" "+path] = true
			}
		}
	}
	return all
}

func TestEveryOperationIsDangerousOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	dangerous := newWorld(t).dangerousOperations(t)
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		if changes := !strings.HasPrefix(route, "GET "); changes && dangerous[route] == (harmlessOperations[route] != "") {
			t.Errorf("%s is dangerous: %t; harmless, because %q", route, dangerous[route], harmlessOperations[route])
		}
	}
	for _, list := range [][]string{slices.Collect(maps.Keys(dangerous)), slices.Collect(maps.Keys(harmlessOperations))} {
		for _, route := range list {
			if _, ok := routes[route]; !ok {
				t.Errorf("%s is no operation", route)
			}
		}
	}
}

func TestConfirm_RefusesUnconfirmedSessionButNoKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids, cookie, key := w.createTargets(t, w.Tenant), w.signIn(t, w.Member(t, connectors.RoleOwner).UserID), w.createKey(t, connectors.RoleOwner)
	dangerous := w.dangerousOperations(t)
	w.AsSystem(t, "update browser_sessions set confirmed_at = now() - interval '61 minutes'", nil)
	for route := range dangerous {
		method, pattern, _ := strings.Cut(route, " ")
		refused := w.callInSession(t, cookie, method, ids.fillPattern(pattern), nil)
		if doc := refused.problem(http.StatusForbidden, "denied"); doc["code"] != "reauthentication_required" {
			t.Errorf("%s: %v", route, doc)
		}
	}
	for route := range routes {
		method, pattern, _ := strings.Cut(route, " ")
		if !dangerous[route] && w.callInSession(t, cookie, method, ids.fillPattern(pattern), nil).status == http.StatusForbidden {
			t.Errorf("%s is refused", route)
		}
	}
	if got := w.call(t, key, http.MethodPost, "/api/v1/api_keys", `{"name": "A", "role": "viewer"}`); got.status != http.StatusCreated {
		t.Errorf("by a key: %d %s", got.status, got.body)
	}
	w.AsSystem(t, "update browser_sessions set confirmed_at = now()", nil)
	w.callInSession(t, cookie, http.MethodPost, "/api/v1/api_keys", `{"name": "A", "role": "viewer"}`).want(http.StatusCreated)
}
