//go:build !race

// Requests one after the other: the race detector finds nothing here and takes ten times as long.

package admin_test

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/testing/htmlcheck"
)

func TestPages_AreValidAndLinkToRoutes(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Tools: append(mcptest.Tools(3), mcptest.Tool("a/b c?"), `{"name":7}`)})
	b := d.signInAsRole(connectors.RoleOwner)
	b.post("/agents", url.Values{"name": {"Support"}})
	b.post("/connectors", connectorForm("Linear", up.URL, "auth.type", "bearer", "auth.token", "tok-123", "description", "Issues."))
	b.post("/connectors", connectorForm("Sentry", up.URL, "auth.type", "basic", "credential_mode", "per_agent"))
	b.post("/connectors", connectorForm("Gone", "http://127.0.0.1:1/mcp"))
	b.post("/api-keys", url.Values{"name": {"nightly"}, "role": {"viewer"}})
	for _, slug := range []string{"linear", "sentry", "gone"} {
		b.submit("/connectors/"+slug+"/sync_tools", nil)
	}
	_, protectedNotes := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Scope: "notes:read"})
	b.addNotes(protectedNotes.URL)
	b.followCallback(b.followConsent(b.followConnect("/connectors/notes/connect")))
	link, reset := d.createConnectLink(b), d.createResetToken()
	b.post("/agents/support/connectors/linear", url.Values{"all": {"true"}, "approval": {"auto"}})
	b.post("/agents/support/connectors/gone", url.Values{"all": {"false"}, "tool": {"nothing yet"}})
	b.post("/connectors/linear/tools/search/try", url.Values{"agent": {"support"}})
	agent, connector := d.findAgentAndConnector("support", "linear")
	hook, _ := d.createWebhook(d.Tenant)
	registry, request := d.createRegistry(d.Tenant, "support"), d.createAccessRequest(d.Tenant, agent.ID, connector.ID)
	waiting, picture := d.createWaitingCall(d.Tenant, agent, connector), d.createPictureCall(d.Tenant, agent, connector)
	up.SetTools(append(mcptest.Tools(3), `{"name":"a/b c?","description":"<b>New</b>"}`, `{"name":7}`)...)
	b.submit("/connectors/linear/sync_tools", nil)
	d.saveIcon(d.Tenant, connector.ID)
	d.saveIcon(d.Tenant, d.findConnector("sentry").ID)
	change := d.listChanges(connector.ID, "a/b c?")[0].ID
	run := d.listRuns(connector.ID)[0].ID.String()
	// The program and the API serve these; "/" stands for itself alone.
	routes := append(d.routes(), "GET /static/", "GET /api/v1/agents/{id}/tools", "GET /{$}")
	routes = slices.DeleteFunc(routes, func(route string) bool { return route == "GET /" })
	for _, role := range connectors.Roles {
		b := d.signInAsRole(role)
		for route, needs := range routeRoles {
			method, pattern, _ := strings.Cut(route, " ")
			if method != http.MethodGet || pattern == "/events" || pattern == "/setup" || !mayUse(role, needs) {
				continue
			}
			for _, slug := range []string{"linear", "sentry", "gone", "notes"} {
				path := things{connector: slug, agent: "support", tool: url.PathEscape("a/b c?"), link: link, reset: reset, waiting: waiting.String(), picture: picture.String(), webhook: hook.ID.String(), registry: registry.String(), stream: d.createAuditStream(d.Tenant).String(), change: change.String(), run: run, request: request.String()}.fill(pattern)
				t.Run(string(role)+" "+path, func(t *testing.T) {
					p := b.get(path)
					if p.Status == http.StatusSeeOther || (slug == "gone" || slug == "notes" || slug == "sentry" && (strings.Contains(pattern, "{change}") || strings.Contains(pattern, "{run}"))) && p.Status == http.StatusNotFound {
						return
					}
					p.want(t, cmp.Or(otherStatus[pattern], http.StatusOK))
					if p.Header.Get("Content-Disposition") != "" {
						return // a file or a picture
					}
					doc := htmlcheck.Parse(t, p.Body)
					doc.Sound(t)
					doc.Leads(t, routes...)
				})
				if !strings.Contains(pattern, "{id}") {
					break
				}
			}
		}
	}
}
