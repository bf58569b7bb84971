package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// auditedRoutes are the routes that change or request something, with the kinds of their audit entries. A new
// one needs a row here or in unauditedRoutes.
var auditedRoutes = map[string]string{
	"POST /api/v1/connectors/{id}/credential/compare":                        "credential.compare",
	"POST /api/v1/connectors/{id}/agents/{agent}/credential/compare":         "credential.compare",
	"DELETE /api/v1/agents/{id}/clients/{client_id}":                         "agent_client.end",
	"POST /api/v1/usage/reset":                                               "usage.reset",
	"DELETE /api/v1/members/{id}/clients/{client_id}":                        "member_client.end",
	"POST /api/v1/connectors":                                                "connector.create",
	"POST /api/v1/connectors/test":                                           "connector.test",
	"PATCH /api/v1/connectors/{id}":                                          "connector.update",
	"DELETE /api/v1/connectors/{id}":                                         "connector.delete",
	"POST /api/v1/connectors/{id}/sync_tools":                                "connector.sync",
	"POST /api/v1/connectors/{id}/ping":                                      "connector.test",
	"PATCH /api/v1/connectors/{id}/operations":                               "connector.update",
	"POST /api/v1/connectors/{id}/endpoints":                                 "endpoint.create",
	"PATCH /api/v1/connectors/{id}/endpoints/{name}":                         "endpoint.update",
	"DELETE /api/v1/connectors/{id}/endpoints/{name}":                        "endpoint.delete",
	"POST /api/v1/connectors/{id}/acknowledge_tools":                         "connector.acknowledge_tools",
	"POST /api/v1/connectors/{id}/listen":                                    "connector.listen",
	"POST /connectors/{id}/sync_tools":                                       "connector.sync",
	"POST /api/v1/sync_tools":                                                "connector.sync_all",
	"POST /api/v1/sync_runs/{id}/cancel":                                     "connector.sync_cancel",
	"POST /api/v1/connectors/{id}/tools/{name}/call":                         "tool.try",
	"PATCH /api/v1/connectors/{id}/tools":                                    "tool.curate",
	"PATCH /api/v1/connectors/{id}/tools/{name}":                             "tool.curate",
	"POST /api/v1/connectors/{id}/tools/{name}/accept":                       "tool.accept",
	"POST /api/v1/connectors/{id}/tools/{name}/reject":                       "tool.reject",
	"POST /api/v1/connectors/{id}/tools/{name}/keep":                         "tool.keep",
	"POST /api/v1/connectors/{id}/tools/{name}/restore":                      "tool.restore",
	"POST /api/v1/connectors/{id}/instructions/restore":                      "instructions.restore",
	"POST /api/v1/connectors/{id}/skills/{uri}/accept":                       "skill.accept",
	"POST /api/v1/connectors/{id}/skills/{uri}/reject":                       "skill.reject",
	"POST /api/v1/connectors/{id}/skills/{uri}/restore":                      "skill.restore",
	"POST /api/v1/tool_changes/decide":                                       "tool.accept tool.reject tool.keep instructions.accept instructions.reject skill.accept skill.reject",
	"POST /api/v1/connectors/{id}/instructions/accept":                       "instructions.accept",
	"POST /api/v1/connectors/{id}/instructions/reject":                       "instructions.reject",
	"POST /api/v1/tool_changes/accept_cosmetic":                              "tool.accept_cosmetic",
	"PUT /api/v1/connectors/{id}/credential":                                 "credential.set",
	"PATCH /api/v1/connectors/{id}/credential":                               "credential.set",
	"DELETE /api/v1/connectors/{id}/credential":                              "credential.delete credential.disconnect",
	"PUT /api/v1/connectors/{id}/agents/{agent}/credential":                  "credential.set",
	"PATCH /api/v1/connectors/{id}/agents/{agent}/credential":                "credential.set",
	"DELETE /api/v1/connectors/{id}/agents/{agent}/credential":               "credential.delete credential.disconnect",
	"POST /api/v1/connectors/{id}/connect":                                   "connect_link.make credential.begin",
	"POST /api/v1/import":                                                    "connector.create connector.update",
	"POST /api/v1/agents":                                                    "agent.create",
	"PATCH /api/v1/agents/{id}":                                              "agent.update",
	"DELETE /api/v1/agents/{id}":                                             "agent.delete",
	"POST /api/v1/agents/{id}/tokens":                                        "agent_token.create",
	"DELETE /api/v1/agents/{id}/tokens/{token_id}":                           "agent_token.revoke",
	"POST /api/v1/agents/{id}/workloads":                                     "agent_workload.create",
	"DELETE /api/v1/agents/{id}/workloads/{workload}":                        "agent_workload.delete",
	"PUT /api/v1/agents/{id}/connectors/{connector}":                         "agent_grant.set",
	"DELETE /api/v1/agents/{id}/connectors/{connector}":                      "agent_grant.drop",
	"PUT /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping":    "agent_grant.shape",
	"DELETE /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping": "agent_grant.shape",
	"POST /api/v1/tool_calls/{id}/approve":                                   "tool_call.approve",
	"POST /api/v1/tool_calls/{id}/deny":                                      "tool_call.deny",
	"POST /api/v1/tool_calls/{id}/cancel":                                    "tool_call.cancel",
	"POST /api/v1/catalog/{slug}/add":                                        "connector.create",
	"POST /api/v1/api_keys":                                                  "api_key.create",
	"DELETE /api/v1/api_keys/{id}":                                           "api_key.revoke",
	"POST /api/v1/members":                                                   "member.add",
	"PATCH /api/v1/members/{id}":                                             "member.role",
	"DELETE /api/v1/members/{id}":                                            "member.remove",
	"POST /api/v1/members/{id}/sign_out":                                     "member.sign_out",
	"DELETE /api/v1/members/{id}/second_factor":                              "member.second_factor_remove",
	"PATCH /api/v1/sso":                                                      "sso.configure",
	"DELETE /api/v1/sso":                                                     "sso.forget",
	"POST /api/v1/sso/domains":                                               "sso.claim_domain",
	"POST /api/v1/sso/domains/verify":                                        "sso.verify_domain",
	"POST /api/v1/sso/domains/release":                                       "sso.release_domain",
	"POST /api/v1/access_requests":                                           "access_request.ask",
	"POST /api/v1/access_requests/{id}/accept":                               "access_request.accept agent_grant.set",
	"POST /api/v1/access_requests/{id}/refuse":                               "access_request.refuse",
	"POST /api/v1/access_requests/{id}/withdraw":                             "access_request.withdraw",
	"POST /api/v1/invitations":                                               "member.invite",
	"POST /api/v1/invitations/{id}/send":                                     "member.invite_again",
	"DELETE /api/v1/invitations/{id}":                                        "member.uninvite",
	"PATCH /api/v1/tenant":                                                   "tenant.rename tenant.configure tenant.keep_history tenant.set_quota tenant.set_defaults tenant.require_second_factor",
	"POST /api/v1/scim":                                                      "scim.enable",
	"POST /api/v1/scim/rotate_token":                                         "scim.rotate_token",
	"DELETE /api/v1/scim":                                                    "scim.disable",
	"POST /api/v1/audit_streams":                                             "audit_stream.create",
	"PATCH /api/v1/audit_streams/{id}":                                       "audit_stream.update",
	"DELETE /api/v1/audit_streams/{id}":                                      "audit_stream.delete",
	"POST /api/v1/audit_streams/{id}/test":                                   "audit_stream.test",
	"POST /api/v1/registries":                                                "registry.create",
	"PATCH /api/v1/registries/{id}":                                          "registry.update",
	"DELETE /api/v1/registries/{id}":                                         "registry.delete",
	"POST /api/v1/registries/{id}/rotate_address":                            "registry.rotate_address",
	"POST /api/v1/webhooks":                                                  "webhook.create",
	"PATCH /api/v1/webhooks/{id}":                                            "webhook.update",
	"DELETE /api/v1/webhooks/{id}":                                           "webhook.delete",
	"POST /api/v1/webhooks/{id}/test":                                        "webhook.test",
	"POST /api/v1/webhooks/{id}/rotate_secret":                               "webhook.rotate_secret",
	"POST /api/v1/webhooks/{id}/deliveries/{delivery}/redeliver":             "webhook.redeliver",
	"DELETE /api/v1/agents/{id}/connectors/{connector}/allowances/{tool}":    "agent_allowance.end",
}

// unauditedRoutes are the routes without an entry, with the reason.
var unauditedRoutes = map[string]string{
	"POST /api/v1/connectors/{id}/methods":                                         "it stands in the history of calls with who sent it",
	"POST /api/v1/agents/{id}/tool_calls":                                          "a call is an agent's work, and stands in the history of calls with who asked for it",
	"POST /api/v1/agents/{id}/tool_calls/batch":                                    "each call stands in the history of calls",
	"POST /api/v1/agents/{id}/connectors/{connector}/tools/{tool}/shaping/preview": "it changes nothing",
	"POST /api/v1/notices/read":                                                    "a mark that its reader sets for themselves",
	"POST /api/v1/sso/check":                                                       "it looks whether the provider answers, and keeps nothing",
}

func TestRouteAudit_EveryActingRouteHasARow(t *testing.T) {
	t.Parallel()
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		if acts := !strings.HasPrefix(route, "GET "); acts && (auditedRoutes[route] == "") == (unauditedRoutes[route] == "") {
			t.Errorf("%s is on record as %q; it is not, because %q", route, auditedRoutes[route], unauditedRoutes[route])
		}
	}
	for _, route := range slices.Concat(slices.Collect(maps.Keys(auditedRoutes)), slices.Collect(maps.Keys(unauditedRoutes))) {
		if _, there := routes[route]; !there {
			t.Errorf("%s: there is no such route", route)
		}
	}
	for route, kinds := range auditedRoutes {
		for kind := range strings.FieldsSeq(kinds) {
			if _, known := store.Actions[kind]; !known {
				t.Errorf("%s: there is no act %q", route, kind)
			}
		}
	}
}

// A route's success leaves the entries of its row, by the caller. Each route has a tenant of its own.
func TestRouteAudit_EntriesMatchTheRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, route := range slices.Sorted(maps.Keys(routes)) {
		method, pattern, _ := strings.Cut(route, " ")
		if method == http.MethodGet {
			continue
		}
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			made, err := w.St.System().CreateTenant(t.Context(), route, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			key, ids := w.createKeyIn(t, made.ID, connectors.RoleOwner), w.createTargets(t, made.ID)
			before := w.listAuditKinds(t, made.ID)
			got := w.call(t, key, method, ids.fillPattern(pattern), routes[route].body)
			if got.status >= 300 && expectedStatus[route] == 0 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			entries := w.listAuditKinds(t, made.ID)[len(before):]
			for _, kind := range entries {
				if !slices.Contains(strings.Fields(auditedRoutes[route]), kind) {
					t.Errorf("on record as %s", kind)
				}
			}
			if got.status < 300 && auditedRoutes[route] != "" && len(entries) == 0 && !emptyRoutes[route] {
				t.Error("it is not on record")
			}
		})
	}
}

// emptyRoutes have nothing to do in the fixture.
var emptyRoutes = map[string]bool{
	"POST /api/v1/tool_changes/accept_cosmetic": true,
}

// listAuditKinds lists the kinds of a tenant's audit entries by people and keys, oldest first.
func (w *world) listAuditKinds(t *testing.T, tenant connectors.TenantID) []string {
	t.Helper()
	var all []string
	w.AsSystem(t, `select coalesce(array_agg(action order by id), '{}') from audit_events where tenant_id = $1 and actor_type <> 'system'`, []any{tenant}, &all)
	return all
}
