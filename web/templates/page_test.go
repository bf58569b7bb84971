package templates_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"patchbay/internal/testing/htmlcheck"
	"patchbay/web"
	"patchbay/web/templates"
)

// routes are the targets of the pages' links.
var routes = []string{
	"GET /{$}", "GET /connectors", "POST /connectors", "GET /connectors/new", "POST /connectors/test", "GET /connectors/import", "POST /connectors/import", "POST /connectors/import/preview", "GET /connectors/export", "GET /catalog", "POST /catalog/{slug}/add", "GET /catalog/registry", "POST /catalog/registry", "POST /catalog/registry/preview", "POST /sync_tools", "GET /connectors/{id}", "POST /connectors/{id}",
	"GET /access", "GET /access/requests", "GET /access/requests/{id}", "GET /access/request", "POST /access/request", "POST /access/requests/{id}/accept", "POST /access/requests/{id}/refuse", "POST /access/requests/{id}/withdraw", "POST /bulk/connectors", "POST /agents/{id}/access", "GET /connectors/{id}/access", "POST /connectors/{id}/access", "GET /connectors/{id}/calls", "GET /connectors/{id}/changes",
	"GET /connectors/{id}/operations", "POST /connectors/{id}/operations", "POST /connectors/{id}/operations/select", "GET /connectors/{id}/endpoint", "POST /connectors/{id}/endpoint", "POST /connectors/{id}/tools/{name}/answer",
	"GET /connectors/{id}/prompts", "GET /connectors/{id}/resources",
	"GET /connectors/{id}/tools", "GET /connectors/{id}/tools/{name}", "GET /connectors/{id}/credentials", "GET /connectors/{id}/credentials/missing", "GET /connectors/{id}/runs", "GET /connectors/{id}/settings",
	"POST /connectors/{id}/enabled", "POST /connectors/{id}/listen", "POST /connectors/{id}/ping", "POST /connectors/{id}/runs/{run}/cancel", "POST /connectors/{id}/methods", "POST /connectors/{id}/delete", "POST /connectors/{id}/sync_tools", "POST /connectors/{id}/credential", "POST /connectors/{id}/credential/delete",
	"POST /connectors/{id}/account/rename", "POST /connectors/{id}/account/syncs", "POST /connectors/{id}/agents/{agent}/account/rename", "POST /connectors/{id}/agents/{agent}/account/syncs",
	"POST /account/connections/{agent}/{connector}/account/rename",
	"POST /connectors/{id}/connect", "POST /connectors/{id}/connect-link", "POST /connectors/{id}/disconnect", "POST /connectors/{id}/diagnose",
	"POST /connectors/{id}/agents/{agent}/connect", "POST /connectors/{id}/agents/{agent}/connect-link", "POST /connectors/{id}/agents/{agent}/disconnect",
	"GET /connect/{token}", "POST /connect/{token}",
	"POST /connectors/{id}/agents/{agent}/credential", "POST /connectors/{id}/agents/{agent}/credential/delete",
	"GET /start/agent", "POST /start/agent", "POST /start/dismiss", "GET /connectors/{id}/start",
	"GET /tools", "GET /search", "GET /events", "GET /agents", "POST /agents", "GET /agents/new", "GET /agents/{id}", "POST /agents/{id}", "POST /agents/{id}/delete",
	"GET /agents/{id}/access", "GET /agents/{id}/tools", "GET /agents/{id}/resources", "GET /agents/{id}/tools/{name}", "POST /agents/{id}/tools/{name}/shaping", "GET /agents/{id}/connect", "GET /agents/{id}/settings", "POST /agents/{id}/tokens", "POST /agents/{id}/tokens/{token}/revoke", "POST /agents/{id}/workloads", "POST /agents/{id}/workloads/{workload}/remove",
	"GET /agents/{id}/connectors/{connector}", "POST /agents/{id}/connectors/{connector}", "POST /agents/{id}/connectors/{connector}/choose", "GET /agents/{id}/unused", "POST /agents/{id}/unused", "POST /agents/{id}/pins", "POST /agents/{id}/connectors/{connector}/remove", "POST /agents/{id}/connectors/{connector}/allowances/{tool}/end",
	"GET /calls", "GET /calls/{id}", "GET /calls/{id}/pictures/{n}", "POST /calls/{id}/cancel", "GET /approvals", "GET /approvals/{id}", "POST /approvals/{id}/approve", "POST /approvals/{id}/deny", "POST /connectors/{id}/tools/{name}/try",
	"GET /changes", "POST /changes/accept_cosmetic", "GET /connectors/{id}/tools/{name}/changes", "GET /connectors/{id}/tools/{name}/changes/{change}",
	"GET /connectors/{id}/instructions/changes", "POST /connectors/{id}/instructions/accept", "POST /connectors/{id}/instructions/reject",
	"POST /connectors/{id}/tools", "POST /connectors/{id}/tools/{name}/curate", "GET /connectors/{id}/runs/{run}", "POST /connectors/{id}/tools/{name}/accept", "POST /connectors/{id}/tools/{name}/keep", "POST /connectors/{id}/tools/{name}/withdraw", "POST /connectors/{id}/tools/{name}/restore", "POST /changes/decide", "POST /changes/undo", "POST /connectors/{id}/tools/{name}/reject",
	"GET /api-keys", "POST /api-keys", "POST /api-keys/{id}/revoke", "GET /members", "POST /members", "POST /members/{id}/role", "POST /members/{id}/delete", "POST /invitations", "POST /invitations/{id}/send", "POST /invitations/{id}/revoke", "POST /setup/invitation",
	"GET /exports/{table...}", "GET /tasks", "GET /notices", "GET /audit", "POST /audit/verify", "GET /audit/export.jsonl", "GET /audit/export.sig", "GET /webhooks", "POST /webhooks", "GET /webhooks/new", "GET /webhooks/{id}", "POST /webhooks/{id}", "POST /webhooks/{id}/test", "POST /webhooks/{id}/rotate", "POST /webhooks/{id}/delete", "POST /webhooks/{id}/deliveries/{delivery}/redeliver",
	"GET /audit/streams", "POST /audit/streams", "GET /audit/streams/{id}", "POST /audit/streams/{id}", "POST /audit/streams/{id}/test", "POST /audit/streams/{id}/delete",
	"GET /registries", "POST /registries", "GET /registries/new", "GET /registries/{id}", "POST /registries/{id}", "POST /registries/{id}/rotate", "POST /registries/{id}/delete",
	"GET /settings", "POST /settings", "GET /settings/scim", "POST /settings/scim", "POST /settings/scim/rotate", "POST /settings/scim/disable", "GET /account", "GET /account/connections", "GET /account/connections/{agent}/{connector}", "POST /account/password", "POST /account/sessions/{id}/revoke", "POST /account/sign-out", "POST /members/{id}/sign-out", "GET /forgot", "POST /forgot", "GET /reset", "POST /reset", "POST /account/mail", "GET /login", "POST /login", "POST /login/sso", "POST /login/code", "POST /confirm", "POST /confirm/sso", "GET /account/second-factor", "POST /account/second-factor", "POST /account/second-factor/confirm", "POST /account/second-factor/codes", "POST /account/second-factor/remove", "POST /members/{id}/second-factor/remove", "GET /settings/sso", "POST /settings/sso", "POST /settings/sso/test", "POST /settings/sso/delete", "POST /settings/sso/domains", "POST /settings/sso/domains/verify", "POST /settings/sso/domains/release", "POST /logout", "POST /setup", "POST /tenant", "POST /language", "GET /static/{name}",
}

func render(t *testing.T, c templ.Component) *htmlcheck.Page {
	t.Helper()
	return htmlcheck.Parse(t, source(t, c))
}

func source(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatalf("render: %v", err)
	}
	return b.String()
}

func TestEveryPageIsSound(t *testing.T) {
	t.Parallel()
	for name, c := range samples(web.Asset) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := render(t, c)
			page.Sound(t)
			page.Leads(t, routes...)
			if strings.Contains(page.Text("body"), "!") {
				t.Errorf("a page raises its voice")
			}
		})
	}
}

func TestEveryIconIsInTheSprite(t *testing.T) {
	t.Parallel()
	sprite := serve(t, web.Asset("icons.svg"))
	for name, c := range samples(web.Asset) {
		for _, use := range render(t, c).All("use") {
			_, icon, _ := strings.Cut(use.Attr("href"), "#")
			if !strings.Contains(sprite, `<symbol id="`+icon+`"`) {
				t.Errorf("%s: the sprite has no %q", name, icon)
			}
		}
	}
}

func TestEveryAssetOfAPageIsServed(t *testing.T) {
	t.Parallel()
	for name, c := range samples(web.Asset) {
		page := render(t, c)
		for _, tag := range []string{"script", "link"} {
			for _, e := range page.All(tag) {
				if serve(t, e.Attr("src")+e.Attr("href")) == "" {
					t.Errorf("%s: %s%s is not served", name, e.Attr("src"), e.Attr("href"))
				}
			}
		}
	}
}

func TestAViewerSeesNothingToPress(t *testing.T) {
	t.Parallel()
	f := asViewer(frame("Linear", templates.NavConnectors))
	row := connectorsPage(f)
	pages := map[string]templ.Component{
		"list":     templates.Connectors(row),
		"empty":    templates.Connectors(templates.ConnectorsPage{Frame: f}),
		"overview": templates.ConnectorOverview(overview(f)),
		"settings": templates.ConnectorSettings(templates.ConnectorSettingsPage{Frame: f, Head: head(templates.TabSettings, stateOK), Form: connectorForm()}),
		"credentials": templates.ConnectorCredentials(templates.ConnectorCredentialsPage{Frame: f, Head: head(templates.TabCredentials, stateOK), Auth: "bearer",
			Rows: []templates.CredentialRow{{Key: "shared", Who: "All agents", Stored: true, Action: "/connectors/linear/credential"}}}),
		"accounts": templates.ConnectorCredentials(templates.ConnectorCredentialsPage{Frame: f, Head: head(templates.TabCredentials, stateOK), Auth: "oauth2",
			Rows: []templates.CredentialRow{{Key: "shared", Who: "All agents", Stored: true, Action: "/connectors/linear"}}}),
		"agent":            templates.Agent(templates.AgentPage{Frame: f, Head: agentHead(templates.AgentOverviewTab)}),
		"agent's settings": templates.AgentSettings(templates.AgentSettingsPage{Frame: f, Head: agentHead(templates.AgentSettingsTab)}),
		"grant":            templates.Grant(grantPage(f)),
		"tokens":           templates.AgentConnect(agentConnect(f)),
		"inbox":            templates.Approvals(templates.ApprovalsPage{Frame: f, Rows: []templates.ApprovalCard{{ID: "1", Action: "/approvals/1", Tool: "x", AgentHref: "/agents/support", Agent: "Support", Waiting: true}}}),
		"agents":           templates.Agents(templates.AgentsPage{Frame: f}),
		"members":          templates.Members(templates.MembersPage{Frame: f, Rows: []templates.MemberRow{{Name: "Ada", RoleName: "Owner", Action: "/members/1"}}}),
		"keys":             templates.APIKeys(templates.APIKeysPage{Frame: f, Rows: []templates.APIKeyRow{{Name: "old", Revoke: "/api-keys/1/revoke"}}}),
		"tenant":           templates.Settings(templates.SettingsPage{Frame: f}),
	}
	for name, c := range pages {
		page := render(t, c)
		page.Sound(t)
		for _, form := range page.All("form") {
			if form.Attr("method") == "post" && !slices.Contains([]string{"/logout", "/language", "/confirm"}, form.Attr("action")) {
				t.Errorf("%s: a viewer may post to %s", name, form.Attr("action"))
			}
		}
		for _, a := range page.All("a") {
			if strings.HasSuffix(a.Attr("href"), "/new") {
				t.Errorf("%s: a viewer is led to %s", name, a.Attr("href"))
			}
		}
	}
}

// serve returns the static file at that address; empty if there is none.
func serve(t *testing.T, address string) string {
	t.Helper()
	w := httptest.NewRecorder()
	web.Static().ServeHTTP(w, httptest.NewRequest("GET", address, nil))
	if w.Code != http.StatusOK {
		return ""
	}
	return w.Body.String()
}
