//go:build !race

// Requests one after the other: the race detector finds nothing here and takes ten times as long.

package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// auditRow says what a route records in the audit log.
type auditRow struct {
	kinds       string
	reason      string
	form        url.Values
	setup       func(g *routeSetup) // what must exist before, besides the tenant's own things
	testedInAPI bool                // it needs more than a form: internal/api tests the use case behind it
}

// auditRows has a row for every route that changes something or exports data. A new one needs a row here.
var auditRows = map[string]auditRow{
	"POST /usage/reset": {kinds: "usage.reset"},

	"POST /members":                                {kinds: "member.add", form: url.Values{"email": {"new@example.com"}, "role": {"viewer"}, "password": {"correct horse battery"}}},
	"POST /members/{id}/role":                      {kinds: "member.role", form: url.Values{"role": {"admin"}}},
	"POST /members/{id}/delete":                    {kinds: "member.remove"},
	"POST /members/{id}/sign-out":                  {kinds: "member.sign_out"},
	"POST /members/{id}/programs/{program}/revoke": {kinds: "member_client.end"},
	"POST /members/{id}/second-factor/remove":      {kinds: "member.second_factor_remove", setup: memberWithFactor},
	"POST /invitations":                            {kinds: "member.invite", form: url.Values{"email": {"other@example.com"}, "role": {"viewer"}}},
	"POST /invitations/{id}/send":                  {kinds: "member.invite_again"},
	"POST /invitations/{id}/revoke":                {kinds: "member.uninvite"},
	"POST /api-keys":                               {kinds: "api_key.create", form: url.Values{"name": {"ci"}, "role": {"viewer"}}},
	"POST /api-keys/{id}/revoke":                   {kinds: "api_key.revoke"},

	"POST /account/password":                                       {kinds: "account.password", form: url.Values{"current_password": {password.Reveal()}, "new_password": {"another horse battery"}}},
	"POST /account/sign-out":                                       {kinds: "account.sign_out"},
	"POST /account/sessions/{id}/revoke":                           {kinds: "account.session_end", setup: otherBrowser},
	"POST /account/programs/{id}/revoke":                           {kinds: "agent_client.end", setup: ownProgram},
	"POST /account/second-factor":                                  {reason: "it begins, and asks for nothing yet: that one proves it is on record"},
	"POST /account/second-factor/confirm":                          {kinds: "account.second_factor_add", testedInAPI: true},
	"POST /account/second-factor/codes":                            {kinds: "account.recovery_codes", testedInAPI: true},
	"POST /account/second-factor/remove":                           {kinds: "account.second_factor_remove", testedInAPI: true},
	"POST /account/connections/{agent}/{connector}/connect":        {kinds: "credential.begin", testedInAPI: true},
	"POST /account/connections/{agent}/{connector}/credential":     {kinds: "credential.set", testedInAPI: true},
	"POST /account/connections/{agent}/{connector}/account/rename": {kinds: "credential.set", testedInAPI: true},
	"POST /account/connections/{agent}/{connector}/disconnect":     {kinds: "credential.delete credential.disconnect", testedInAPI: true},

	"POST /account/mail":     {reason: "a choice of one's own, of what one may read anyway"},
	"POST /forgot":           {reason: "it sends a mail, perhaps; what is done by its link is on record"},
	"POST /reset":            {kinds: "account.password_reset", testedInAPI: true},
	"POST /logout":           {kinds: "account.sign_out_here"},
	"POST /login":            {kinds: "account.sign_in", setup: enableSSO},
	"POST /login/code":       {kinds: "account.sign_in account.recovery_code_use account.second_factor_refuse", testedInAPI: true},
	"POST /login/sso":        {reason: "it leads to the provider; with whom they come back is sso.sign_in, or sso.refuse"},
	"POST /setup":            {kinds: "member.join account.sign_in", testedInAPI: true},
	"POST /setup/invitation": {kinds: "member.join account.sign_in", testedInAPI: true},
	"POST /oauth/authorize":  {kinds: "agent_client.allow member_client.allow agent.create", testedInAPI: true},
	"POST /connect/{token}":  {kinds: "credential.begin", testedInAPI: true},
	"POST /confirm":          {reason: "a proof of who is there, for what is on record itself"},
	"POST /confirm/sso":      {reason: "it leads to the provider, for the same"},
	"POST /tenant":           {reason: "which of one's own tenants is shown"},
	"POST /language":         {reason: "a taste"},
	"POST /start/dismiss":    {reason: "it hides a list of hints"},

	"POST /audit/verify":      {reason: "it computes, and shows everybody what it found"},
	"GET /audit/export.jsonl": {kinds: "audit.export", testedInAPI: true},
	"GET /audit/export.sig":   {reason: "the signature of an export that is on record"},

	"POST /settings":                     {kinds: "tenant.rename tenant.configure tenant.keep_history tenant.set_quota tenant.set_defaults tenant.require_second_factor", form: url.Values{"name": {"Renamed"}}},
	"POST /settings/scim":                {kinds: "scim.enable"},
	"POST /settings/scim/rotate":         {kinds: "scim.rotate_token", setup: enableSCIM},
	"POST /settings/scim/disable":        {kinds: "scim.disable", setup: enableSCIM},
	"POST /settings/sso":                 {kinds: "sso.configure", testedInAPI: true},
	"POST /settings/sso/test":            {kinds: "sso.test", testedInAPI: true},
	"POST /settings/sso/delete":          {kinds: "sso.forget", testedInAPI: true},
	"POST /settings/sso/domains":         {kinds: "sso.claim_domain", form: url.Values{"domain": {"acme.example"}}},
	"POST /settings/sso/domains/verify":  {kinds: "sso.verify_domain", testedInAPI: true},
	"POST /settings/sso/domains/release": {kinds: "sso.release_domain", form: url.Values{"domain": {"initech.example"}}, setup: postBefore("/settings/sso/domains", url.Values{"domain": {"initech.example"}})},

	"POST /connectors":                        {kinds: "connector.create connector.sync", form: url.Values{"name": {"New"}, "url": {"http://127.0.0.1:9/mcp"}, "auth.type": {"none"}}},
	"POST /connectors/test":                   {kinds: "connector.test", form: url.Values{"name": {"New"}, "url": {"http://127.0.0.1:9/mcp"}, "auth.type": {"none"}}},
	"POST /connectors/import":                 {kinds: "connector.create connector.update connector.sync", form: url.Values{"document": {`{"mcpServers": {"imported": {"url": "http://127.0.0.1:9/imported"}}}`}}},
	"POST /connectors/import/preview":         {reason: "it stores nothing"},
	"POST /catalog/{slug}/add":                {kinds: "connector.create"},
	"POST /catalog/registry":                  {kinds: "connector.create", testedInAPI: true},
	"POST /catalog/registry/preview":          {reason: "it stores nothing"},
	"POST /connectors/{id}":                   {kinds: "connector.update", form: url.Values{"name": {"Renamed"}, "url": {"http://127.0.0.1:9/mcp"}, "auth.type": {"none"}}},
	"POST /connectors/{id}/enabled":           {kinds: "connector.update", form: url.Values{}},
	"POST /connectors/{id}/listen":            {kinds: "connector.listen"},
	"POST /connectors/{id}/delete":            {kinds: "connector.delete"},
	"POST /connectors/{id}/diagnose":          {reason: "it looks how accounts are connected, and sends no secret"},
	"POST /connectors/{id}/sync_tools":        {kinds: "connector.sync"},
	"POST /connectors/{id}/runs/{run}/cancel": {kinds: "connector.sync_cancel", setup: runningSync},
	"POST /connectors/{id}/ping":              {kinds: "connector.test"},
	"POST /connectors/{id}/methods":           {reason: "it stands in the history of calls with who sent it"},
	"POST /sync_tools":                        {kinds: "connector.sync_all"},
	"POST /connectors/{id}/acknowledge_tools": {kinds: "connector.acknowledge_tools"},

	"POST /connectors/{id}/credential":                       {kinds: "credential.set", form: url.Values{"token": {"t"}}, setup: addTokenConnector(connectors.CredentialShared, false)},
	"POST /connectors/{id}/credential/delete":                {kinds: "credential.delete", setup: addTokenConnector(connectors.CredentialShared, true)},
	"POST /connectors/{id}/agents/{agent}/credential":        {kinds: "credential.set", form: url.Values{"token": {"t"}}, setup: addTokenConnector(connectors.CredentialPerAgent, false)},
	"POST /connectors/{id}/agents/{agent}/credential/delete": {kinds: "credential.delete", setup: addTokenConnector(connectors.CredentialPerAgent, true)},
	"POST /connectors/{id}/connect":                          {kinds: "credential.begin", testedInAPI: true},
	"POST /connectors/{id}/agents/{agent}/connect":           {kinds: "credential.begin", testedInAPI: true},
	"POST /connectors/{id}/account/rename":                   {kinds: "credential.set", testedInAPI: true},
	"POST /connectors/{id}/agents/{agent}/account/rename":    {kinds: "credential.set", testedInAPI: true},
	"POST /connectors/{id}/account/syncs":                    {kinds: "credential.set", testedInAPI: true},
	"POST /connectors/{id}/agents/{agent}/account/syncs":     {kinds: "credential.set", testedInAPI: true},
	"POST /connectors/{id}/connect-link":                     {kinds: "connect_link.make", testedInAPI: true},
	"POST /connectors/{id}/agents/{agent}/connect-link":      {kinds: "connect_link.make", testedInAPI: true},
	"POST /connectors/{id}/disconnect":                       {kinds: "credential.disconnect", testedInAPI: true},
	"POST /connectors/{id}/agents/{agent}/disconnect":        {kinds: "credential.disconnect", testedInAPI: true},

	"POST /connectors/{id}/tools":                 {kinds: "tool.curate", form: url.Values{"do": {"disable"}, "tool": {"search"}}},
	"POST /connectors/{id}/tools/{tool}/curate":   {kinds: "tool.curate", form: url.Values{"alias": {"find"}, "enabled": {"on"}}},
	"POST /connectors/{id}/operations":            {kinds: "connector.update connector.sync", setup: addAPIConnector(url.Values{"pick": {"GET /notes"}})},
	"POST /connectors/{id}/operations/select":     {reason: "it stores nothing"},
	"POST /connectors/{id}/endpoint":              {kinds: "endpoint.create connector.sync", setup: addAPIConnector(url.Values{"do": {"save"}, "name": {"ping"}, "method": {"GET"}, "url": {"http://127.0.0.1:9/ping"}})},
	"POST /connectors/{id}/tools/{tool}/answer":   {reason: "it is the same change as that of an endpoint; TestAnswerPanel_SavesAFilter"},
	"POST /connectors/{id}/tools/{tool}/accept":   {kinds: "tool.accept skill.accept", testedInAPI: true},
	"POST /connectors/{id}/tools/{tool}/withdraw": {kinds: "skill.reject", testedInAPI: true},
	"POST /connectors/{id}/tools/{tool}/keep":     {kinds: "tool.keep", testedInAPI: true},
	"POST /connectors/{id}/tools/{tool}/restore":  {kinds: "tool.restore skill.restore", testedInAPI: true},
	"POST /connectors/{id}/instructions/restore":  {kinds: "instructions.restore", testedInAPI: true},
	"POST /changes/undo":                          {kinds: "tool.undo instructions.undo skill.undo", testedInAPI: true},
	"POST /changes/decide":                        {kinds: "tool.accept tool.reject instructions.accept instructions.reject skill.accept skill.reject", testedInAPI: true},
	"POST /connectors/{id}/tools/{tool}/reject":   {kinds: "tool.reject skill.reject", testedInAPI: true},
	"POST /connectors/{id}/instructions/accept":   {kinds: "instructions.accept", testedInAPI: true},
	"POST /connectors/{id}/instructions/reject":   {kinds: "instructions.reject", testedInAPI: true},
	"POST /changes/accept_cosmetic":               {kinds: "tool.accept_cosmetic", testedInAPI: true},
	"POST /connectors/{id}/tools/{tool}/try":      {reason: "a call is an agent's work, and stands in the history of calls with who asked for it; an admin's own is tool.try, see TestToolTry_AdminNeedsNoAgent"},

	"POST /approvals/{id}/approve": {kinds: "tool_call.approve"},
	"POST /approvals/{id}/deny":    {kinds: "tool_call.deny"},
	"POST /calls/{id}/cancel":      {kinds: "tool_call.cancel"},

	"POST /start/agent":                               {kinds: "agent.create agent_grant.set agent_token.create", setup: func(g *routeSetup) { g.form = url.Values{"name": {"New"}, "connector": {g.connector}} }},
	"POST /agents":                                    {kinds: "agent.create", form: url.Values{"name": {"New"}, "approval": {"auto"}}},
	"POST /agents/{id}":                               {kinds: "agent.update", form: url.Values{"name": {"Renamed"}, "approval": {"auto"}, "enabled": {"on"}, "sure": {"yes"}}},
	"POST /agents/{id}/delete":                        {kinds: "agent.delete"},
	"POST /agents/{id}/unused":                        {kinds: "agent_grant.set", testedInAPI: true},
	"POST /agents/{id}/pins":                          {kinds: "agent_grant.set", testedInAPI: true},
	"POST /agents/{id}/tokens":                        {kinds: "agent_token.create", form: url.Values{"name": {"new"}}},
	"POST /agents/{id}/workloads":                     {kinds: "agent_workload.create", form: url.Values{"name": {"new"}, "kind": {"github"}, "subject": {"repo:acme/app:ref:refs/heads/main"}}},
	"POST /agents/{id}/workloads/{workload}/remove":   {kinds: "agent_workload.delete"},
	"POST /agents/{id}/tokens/{token}/revoke":         {kinds: "agent_token.revoke"},
	"POST /agents/{id}/programs/{program}/revoke":     {kinds: "agent_client.end"},
	"POST /agents/{id}/connectors/{connector}":        {kinds: "agent_grant.set", form: url.Values{"all": {"on"}}},
	"POST /agents/{id}/connectors/{connector}/choose": {kinds: "agent_grant.set", testedInAPI: true},
	"POST /agents/{id}/connectors/{connector}/remove": {kinds: "agent_grant.drop"},
	"POST /agents/{id}/tools/{exposed}/shaping":       {kinds: "agent_grant.shape", testedInAPI: true},
	"POST /agents/{id}/access":                        {kinds: "agent_grant.drop", setup: formOf(func(own things) url.Values { return url.Values{"do": {"remove"}, "connector": {own.connector}} })},
	"POST /access/request":                            {kinds: "access_request.ask", testedInAPI: true},
	"POST /access/requests/{id}/accept":               {kinds: "agent_grant.set access_request.accept", testedInAPI: true},
	"POST /access/requests/{id}/refuse":               {kinds: "access_request.refuse", testedInAPI: true},
	"POST /access/requests/{id}/withdraw":             {kinds: "access_request.withdraw", testedInAPI: true},
	"POST /connectors/{id}/access":                    {kinds: "agent_grant.drop", setup: formOf(func(own things) url.Values { return url.Values{"do": {"remove"}, "agent": {own.agent}} })},
	"POST /bulk/connectors": {kinds: "connector.update", setup: formOf(func(own things) url.Values {
		return url.Values{"do": {"tag"}, "word": {"crm"}, "connector": {own.connector}}
	})},

	"POST /agents/{id}/connectors/{connector}/allowances/{tool}/end": {kinds: "agent_allowance.end"},

	"POST /registries":             {kinds: "registry.create", form: url.Values{"name": {"New"}, "lists": {"all"}}},
	"POST /registries/{id}":        {kinds: "registry.update", form: url.Values{"name": {"Renamed"}, "lists": {"all"}, "token_required": {"true"}}},
	"POST /registries/{id}/rotate": {kinds: "registry.rotate_address"},
	"POST /registries/{id}/delete": {kinds: "registry.delete"},

	"POST /audit/streams":                                 {kinds: "audit_stream.create", form: url.Values{"name": {"New"}, "kind": {"https"}, "url": {"http://127.0.0.1:9/in"}, "format": {"json"}}},
	"POST /audit/streams/{id}":                            {kinds: "audit_stream.update", form: url.Values{"name": {"Renamed"}, "url": {"https://siem.example.com/in"}, "format": {"json"}, "header": {"Authorization"}, "enabled": {"on"}}},
	"POST /audit/streams/{id}/test":                       {kinds: "audit_stream.test"},
	"POST /audit/streams/{id}/delete":                     {kinds: "audit_stream.delete"},
	"POST /webhooks":                                      {kinds: "webhook.create", form: url.Values{"name": {"New"}, "url": {"http://127.0.0.1:9/hook"}, "kind": {"approval.waiting"}}, setup: deleteWebhooks},
	"POST /webhooks/{id}":                                 {kinds: "webhook.update", form: url.Values{"name": {"Renamed"}, "url": {"http://127.0.0.1:9/hook"}, "kind": {"approval.waiting"}, "enabled": {"on"}}},
	"POST /webhooks/{id}/test":                            {kinds: "webhook.test"},
	"POST /webhooks/{id}/rotate":                          {kinds: "webhook.rotate_secret"},
	"POST /webhooks/{id}/delete":                          {kinds: "webhook.delete"},
	"POST /webhooks/{id}/deliveries/{delivery}/redeliver": {kinds: "webhook.redeliver"},
}

// routeSetup is the state before a route is called.
type routeSetup struct {
	*dashboard
	things
	actor connectors.Member // the signed-in member
	form  url.Values
}

// runningSync starts a sync of a connector.
func runningSync(g *routeSetup) {
	g.t.Helper()
	c := g.Connector(g.t)
	g.connector, g.run = c.ID.String(), g.Run(g.t, c.ID).ID.String()
}

// memberWithFactor adds a member with a second factor.
func memberWithFactor(g *routeSetup) {
	member := g.MemberIn(g.t, g.Tenant, connectors.RoleViewer).UserID
	g.SecondFactor(g.t, member)
	g.member = member.String()
}

// ownProgram adds a program that the actor authorized.
func ownProgram(g *routeSetup) {
	g.program = g.ProgramIn(g.t, g.Tenant, g.Agent(g.t).ID, g.actor.UserID).String()
}

// otherBrowser adds another session of the actor.
func otherBrowser(g *routeSetup) { g.session = g.createSession(g.actor.UserID).String() }

func enableSSO(g *routeSetup) {
	g.form = url.Values{"email": {g.actor.Email}, "password": {password.Reveal()}}
}

// postBefore posts a form before the tested one.
func postBefore(path string, form url.Values) func(*routeSetup) {
	return func(g *routeSetup) {
		g.t.Helper()
		g.signInAsRole(connectors.RoleOwner).post(g.fill(path), form).want(g.t, http.StatusSeeOther)
	}
}

// enableSCIM turns SCIM on, unless it is on already.
func enableSCIM(g *routeSetup) {
	g.t.Helper()
	if p := g.signInAsRole(connectors.RoleOwner).post("/settings/scim", nil); p.Status != http.StatusOK && p.Status != http.StatusConflict {
		g.t.Fatalf("SCIM is not on: status %d", p.Status)
	}
}

// deleteWebhooks makes room for one more.
func deleteWebhooks(g *routeSetup) { g.AsOwner(g.t, "delete from webhooks") }

// addTokenConnector adds a connector with a bearer token, shared or per agent, with a stored token or without.
func addTokenConnector(mode connectors.CredentialMode, has bool) func(*routeSetup) {
	return func(g *routeSetup) {
		g.t.Helper()
		c := g.Connector(g.t, func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = connectors.AuthBearer, mode })
		path := "/connectors/{id}/credential"
		if mode == connectors.CredentialPerAgent {
			path = "/connectors/{id}/agents/{agent}/credential"
		}
		if g.connector = c.ID.String(); has {
			postBefore(path, url.Values{"token": {"t"}})(g)
		}
	}
}

// addAPIConnector adds a connector to an HTTP API, of which nothing is a tool yet.
func addAPIConnector(form url.Values) func(*routeSetup) {
	return func(g *routeSetup) {
		g.t.Helper()
		g.connector, g.form = g.createAPI("http://127.0.0.1:9/v2", notesDocument).ID.String(), form
	}
}

// isExport reports whether a route sends a table as a file.
func isExport(route string) bool { return strings.HasPrefix(route, "GET /exports/") }

func TestRouteAudit_EveryActingRouteHasARow(t *testing.T) {
	t.Parallel()
	mounted := newDashboard(t).routes()
	for _, route := range mounted {
		if row := auditRows[route]; !strings.HasPrefix(route, "GET ") && (row.kinds == "") == (row.reason == "") {
			t.Errorf("%s is on record as %q; it is not, because %q", route, row.kinds, row.reason)
		}
	}
	for route, row := range auditRows {
		if !slices.Contains(mounted, route) {
			t.Errorf("%s: there is no such route", route)
		}
		for kind := range strings.FieldsSeq(row.kinds) {
			if _, known := store.Actions[kind]; !known {
				t.Errorf("%s: there is no act %q", route, kind)
			}
		}
	}
}

// formOf makes the form of the tenant's own things.
func formOf(values func(own things) url.Values) func(g *routeSetup) {
	return func(g *routeSetup) { g.form = values(g.things) }
}

// The audit log has the entries of the row, by the signed-in member.
func TestRouteAudit_EntriesMatchTheRow(t *testing.T) {
	t.Parallel()
	// Each route adds things, which all webhooks of its tenant are notified of: a new tenant for every few.
	for few := range slices.Chunk(newDashboard(t).routes(), 8) {
		t.Run(few[0], func(t *testing.T) {
			d := newDashboard(t)
			for _, route := range few {
				d.checkRouteAudit(t, route)
			}
		})
	}
}

// checkRouteAudit checks that a route records what its row says.
func (d *dashboard) checkRouteAudit(t *testing.T, route string) {
	t.Helper()
	row := auditRows[route]
	if isExport(route) {
		row = auditRow{kinds: "table.export"}
	}
	method, pattern, _ := strings.Cut(route, " ")
	if row.kinds == "" || row.testedInAPI {
		return
	}
	g := &routeSetup{dashboard: d, things: d.ownThings(), actor: d.createMember(connectors.RoleOwner), form: row.form}
	b := d.browser()
	b.signIn(g.actor.Email)
	if row.setup != nil {
		row.setup(g)
	}
	known := len(d.listAuditKinds(g.actor))
	if method == http.MethodPost && g.form == nil {
		g.form = url.Values{}
	}
	p := b.do(method, g.fill(pattern), g.form)
	made := d.listAuditKinds(g.actor)[known:]
	if p.Status >= http.StatusBadRequest || len(made) == 0 {
		t.Errorf("%s: %d to %q, on record as %q\n%s", route, p.Status, p.Location, made, plainText(p.Body))
	}
	for _, kind := range made {
		if !slices.Contains(strings.Fields(row.kinds), kind) {
			t.Errorf("%s is on record as %s", route, kind)
		}
	}
}

// listAuditKinds lists the kinds of a member's audit entries, oldest first.
func (d *dashboard) listAuditKinds(m connectors.Member) []string {
	d.t.Helper()
	var all []string
	d.AsSystem(d.t, `select coalesce(array_agg(action order by id), '{}') from audit_events where tenant_id = $1 and actor_id = $2`, []any{d.Tenant, m.UserID.UUID}, &all)
	return all
}
