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

// recordRow is what a route leaves in the audit log.
type recordRow struct {
	acts  string         // the kinds of its entries; empty: none
	why   string         // it leaves none
	form  url.Values     // with which it does it
	given func(g *given) // what is there before, where that is more than a tenant's own things
	deep  bool           // it takes more than a form: the use case that the page calls does it in internal/api, where each kind of act has its row
}

// onRecord has a row for every route that changes something, and for those from which something leaves the house. A new one needs a row here.
var onRecord = map[string]recordRow{
	"POST /usage/reset": {acts: "usage.reset"},

	"POST /members":                                {acts: "member.add", form: url.Values{"email": {"new@example.com"}, "role": {"viewer"}, "password": {"correct horse battery"}}},
	"POST /members/{id}/role":                      {acts: "member.role", form: url.Values{"role": {"admin"}}},
	"POST /members/{id}/delete":                    {acts: "member.remove"},
	"POST /members/{id}/sign-out":                  {acts: "member.sign_out"},
	"POST /members/{id}/programs/{program}/revoke": {acts: "member_client.end"},
	"POST /members/{id}/second-factor/remove":      {acts: "member.second_factor_remove", given: memberWithFactor},
	"POST /invitations":                            {acts: "member.invite", form: url.Values{"email": {"other@example.com"}, "role": {"viewer"}}},
	"POST /invitations/{id}/send":                  {acts: "member.invite_again"},
	"POST /invitations/{id}/revoke":                {acts: "member.uninvite"},
	"POST /api-keys":                               {acts: "api_key.create", form: url.Values{"name": {"ci"}, "role": {"viewer"}}},
	"POST /api-keys/{id}/revoke":                   {acts: "api_key.revoke"},

	"POST /account/password":                                   {acts: "account.password", form: url.Values{"current_password": {password.Reveal()}, "new_password": {"another horse battery"}}},
	"POST /account/sign-out":                                   {acts: "account.sign_out"},
	"POST /account/sessions/{id}/revoke":                       {acts: "account.session_end", given: otherBrowser},
	"POST /account/programs/{id}/revoke":                       {acts: "agent_client.end", given: ownProgram},
	"POST /account/second-factor":                              {why: "it begins, and asks for nothing yet: that one proves it is on record"},
	"POST /account/second-factor/confirm":                      {acts: "account.second_factor_add", deep: true},
	"POST /account/second-factor/codes":                        {acts: "account.recovery_codes", deep: true},
	"POST /account/second-factor/remove":                       {acts: "account.second_factor_remove", deep: true},
	"POST /account/connections/{agent}/{connector}/connect":    {acts: "credential.begin", deep: true},
	"POST /account/connections/{agent}/{connector}/credential": {acts: "credential.set", deep: true},
	"POST /account/connections/{agent}/{connector}/disconnect": {acts: "credential.delete credential.disconnect", deep: true},

	"POST /logout":           {acts: "account.sign_out_here"},
	"POST /login":            {acts: "account.sign_in", given: signingIn},
	"POST /login/code":       {acts: "account.sign_in account.recovery_code_use account.second_factor_refuse", deep: true},
	"POST /login/sso":        {why: "it leads to the provider; with whom they come back is sso.sign_in, or sso.refuse"},
	"POST /setup":            {acts: "member.join account.sign_in", deep: true},
	"POST /setup/invitation": {acts: "member.join account.sign_in", deep: true},
	"POST /oauth/authorize":  {acts: "agent_client.allow member_client.allow agent.create", deep: true},
	"POST /connect/{token}":  {acts: "credential.begin", deep: true},
	"POST /confirm":          {why: "a proof of who is there, for what is on record itself"},
	"POST /confirm/sso":      {why: "it leads to the provider, for the same"},
	"POST /tenant":           {why: "which of one's own tenants is shown"},
	"POST /language":         {why: "a taste"},
	"POST /notices/read":     {why: "a mark that its reader sets for themselves"},

	"POST /audit/verify":      {why: "it computes, and shows everybody what it found"},
	"GET /audit/export.jsonl": {acts: "audit.export", deep: true},
	"GET /audit/export.sig":   {why: "the signature of an export that is on record"},

	"POST /settings":                     {acts: "tenant.rename tenant.configure tenant.keep_history tenant.set_quota tenant.set_defaults tenant.require_second_factor", form: url.Values{"name": {"Renamed"}}},
	"POST /settings/sso":                 {acts: "sso.configure", deep: true},
	"POST /settings/sso/test":            {acts: "sso.test", deep: true},
	"POST /settings/sso/delete":          {acts: "sso.forget", deep: true},
	"POST /settings/sso/domains":         {acts: "sso.claim_domain", form: url.Values{"domain": {"acme.example"}}},
	"POST /settings/sso/domains/verify":  {acts: "sso.verify_domain", deep: true},
	"POST /settings/sso/domains/release": {acts: "sso.release_domain", form: url.Values{"domain": {"initech.example"}}, given: before("/settings/sso/domains", url.Values{"domain": {"initech.example"}})},

	"POST /connectors":                 {acts: "connector.create", form: url.Values{"name": {"New"}, "url": {"http://127.0.0.1:9/mcp"}, "auth.type": {"none"}}},
	"POST /connectors/test":            {acts: "connector.test", form: url.Values{"name": {"New"}, "url": {"http://127.0.0.1:9/mcp"}, "auth.type": {"none"}}},
	"POST /connectors/import":          {acts: "connector.create connector.update", form: url.Values{"document": {`{"mcpServers": {"imported": {"url": "http://127.0.0.1:9/imported"}}}`}}},
	"POST /connectors/import/preview":  {why: "it stores nothing"},
	"POST /catalog/{slug}/add":         {acts: "connector.create"},
	"POST /catalog/registry":           {acts: "connector.create", deep: true},
	"POST /catalog/registry/preview":   {why: "it stores nothing"},
	"POST /connectors/{id}":            {acts: "connector.update", form: url.Values{"name": {"Renamed"}, "url": {"http://127.0.0.1:9/mcp"}, "auth.type": {"none"}}},
	"POST /connectors/{id}/enabled":    {acts: "connector.update", form: url.Values{}},
	"POST /connectors/{id}/listen":     {acts: "connector.listen"},
	"POST /connectors/{id}/delete":     {acts: "connector.delete"},
	"POST /connectors/{id}/diagnose":   {why: "it looks how accounts are connected, and sends no secret"},
	"POST /connectors/{id}/sync_tools": {acts: "connector.sync"},
	"POST /sync_tools":                 {acts: "connector.sync_all"},

	"POST /connectors/{id}/credential":                       {acts: "credential.set", form: url.Values{"token": {"t"}}, given: taking(connectors.CredentialShared, false)},
	"POST /connectors/{id}/credential/delete":                {acts: "credential.delete", given: taking(connectors.CredentialShared, true)},
	"POST /connectors/{id}/agents/{agent}/credential":        {acts: "credential.set", form: url.Values{"token": {"t"}}, given: taking(connectors.CredentialPerAgent, false)},
	"POST /connectors/{id}/agents/{agent}/credential/delete": {acts: "credential.delete", given: taking(connectors.CredentialPerAgent, true)},
	"POST /connectors/{id}/connect":                          {acts: "credential.begin", deep: true},
	"POST /connectors/{id}/agents/{agent}/connect":           {acts: "credential.begin", deep: true},
	"POST /connectors/{id}/connect-link":                     {acts: "connect_link.make", deep: true},
	"POST /connectors/{id}/agents/{agent}/connect-link":      {acts: "connect_link.make", deep: true},
	"POST /connectors/{id}/disconnect":                       {acts: "credential.disconnect", deep: true},
	"POST /connectors/{id}/agents/{agent}/disconnect":        {acts: "credential.disconnect", deep: true},

	"POST /connectors/{id}/tools":               {acts: "tool.curate", form: url.Values{"do": {"disable"}, "tool": {"search"}}},
	"POST /connectors/{id}/tools/{tool}/curate": {acts: "tool.curate", form: url.Values{"alias": {"find"}, "enabled": {"on"}}},
	"POST /connectors/{id}/tools/{tool}/accept": {acts: "tool.accept", deep: true},
	"POST /connectors/{id}/tools/{tool}/reject": {acts: "tool.reject", deep: true},
	"POST /connectors/{id}/instructions/accept": {acts: "instructions.accept", deep: true},
	"POST /connectors/{id}/instructions/reject": {acts: "instructions.reject", deep: true},
	"POST /changes/accept_cosmetic":             {acts: "tool.accept_cosmetic", deep: true},
	"POST /connectors/{id}/tools/{tool}/try":    {why: "a call is an agent's work, and stands in the history of calls with who asked for it"},

	"POST /approvals/{id}/approve": {acts: "tool_call.approve"},
	"POST /approvals/{id}/deny":    {acts: "tool_call.deny"},
	"POST /calls/{id}/cancel":      {acts: "tool_call.cancel"},

	"POST /agents":                                    {acts: "agent.create", form: url.Values{"name": {"New"}, "approval": {"auto"}}},
	"POST /agents/{id}":                               {acts: "agent.update", form: url.Values{"name": {"Renamed"}, "approval": {"auto"}, "enabled": {"on"}}},
	"POST /agents/{id}/delete":                        {acts: "agent.delete"},
	"POST /agents/{id}/unused":                        {acts: "agent_grant.set", deep: true},
	"POST /agents/{id}/tokens":                        {acts: "agent_token.create", form: url.Values{"name": {"new"}}},
	"POST /agents/{id}/tokens/{token}/revoke":         {acts: "agent_token.revoke"},
	"POST /agents/{id}/programs/{program}/revoke":     {acts: "agent_client.end"},
	"POST /agents/{id}/connectors/{connector}":        {acts: "agent_grant.set", form: url.Values{"all": {"on"}}},
	"POST /agents/{id}/connectors/{connector}/choose": {acts: "agent_grant.set", deep: true},
	"POST /agents/{id}/connectors/{connector}/remove": {acts: "agent_grant.drop"},

	"POST /webhooks":                                      {acts: "webhook.create", form: url.Values{"name": {"New"}, "url": {"http://127.0.0.1:9/hook"}, "kind": {"approval.waiting"}}, given: fewWebhooks},
	"POST /webhooks/{id}":                                 {acts: "webhook.update", form: url.Values{"name": {"Renamed"}, "url": {"http://127.0.0.1:9/hook"}, "kind": {"approval.waiting"}, "enabled": {"on"}}},
	"POST /webhooks/{id}/test":                            {acts: "webhook.test"},
	"POST /webhooks/{id}/rotate":                          {acts: "webhook.rotate_secret"},
	"POST /webhooks/{id}/delete":                          {acts: "webhook.delete"},
	"POST /webhooks/{id}/deliveries/{delivery}/redeliver": {acts: "webhook.redeliver"},
}

// given is what a route finds.
type given struct {
	*dashboard
	things
	who  connectors.Member // whoever asks
	form url.Values
}

// memberWithFactor is a member who is asked for codes.
func memberWithFactor(g *given) {
	member := g.MemberIn(g.t, g.Tenant, connectors.RoleViewer).UserID
	g.SecondFactor(g.t, member)
	g.member = member.String()
}

// ownProgram is one that whoever asks has let in.
func ownProgram(g *given) {
	g.program = g.ProgramIn(g.t, g.Tenant, g.Agent(g.t).ID, g.who.UserID).String()
}

// otherBrowser is one in which whoever asks is signed in, too.
func otherBrowser(g *given) { g.session = g.sessionOf(g.who.UserID).String() }

func signingIn(g *given) {
	g.form = url.Values{"email": {g.who.Email}, "password": {password.Reveal()}}
}

// before is a form that somebody has sent before.
func before(path string, form url.Values) func(*given) {
	return func(g *given) {
		g.t.Helper()
		g.as(connectors.RoleOwner).post(g.fill(path), form).want(g.t, http.StatusSeeOther)
	}
}

// fewWebhooks leaves room for one more.
func fewWebhooks(g *given) { g.AsOwner(g.t, "delete from webhooks") }

// taking is a connector that wants a token, of all agents or of each, with one or without.
func taking(mode connectors.CredentialMode, has bool) func(*given) {
	return func(g *given) {
		g.t.Helper()
		c := g.Connector(g.t, func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = connectors.AuthBearer, mode })
		path := "/connectors/{id}/credential"
		if mode == connectors.CredentialPerAgent {
			path = "/connectors/{id}/agents/{agent}/credential"
		}
		if g.connector = c.ID.String(); has {
			before(path, url.Values{"token": {"t"}})(g)
		}
	}
}

// exporting tells whether a route hands out a table as a file.
func exporting(route string) bool { return strings.HasPrefix(route, "GET /exports/") }

func TestEveryRouteThatActsIsOnRecordOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	mounted := newDashboard(t).routes()
	for _, route := range mounted {
		if row := onRecord[route]; !strings.HasPrefix(route, "GET ") && (row.acts == "") == (row.why == "") {
			t.Errorf("%s is on record as %q; it is not, because %q", route, row.acts, row.why)
		}
	}
	for route, row := range onRecord {
		if !slices.Contains(mounted, route) {
			t.Errorf("%s: there is no such route", route)
		}
		for kind := range strings.FieldsSeq(row.acts) {
			if _, known := store.Acts[kind]; !known {
				t.Errorf("%s: there is no act %q", route, kind)
			}
		}
	}
}

// What a page's form does stands in the audit log as its row says, by whoever sent it.
func TestWhatAFormDoesIsOnRecordAsItsRowSays(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for _, route := range d.routes() {
		row := onRecord[route]
		if exporting(route) {
			row = recordRow{acts: "table.export"}
		}
		method, pattern, _ := strings.Cut(route, " ")
		if row.acts == "" || row.deep {
			continue
		}
		g := &given{dashboard: d, things: d.own(), who: d.person(connectors.RoleOwner), form: row.form}
		b := d.browser()
		b.signIn(g.who.Email)
		if row.given != nil {
			row.given(g)
		}
		known := len(d.entriesOf(g.who))
		if method == http.MethodPost && g.form == nil {
			g.form = url.Values{}
		}
		p := b.do(method, g.fill(pattern), g.form)
		made := d.entriesOf(g.who)[known:]
		if p.Status >= http.StatusBadRequest || len(made) == 0 {
			t.Errorf("%s: %d to %q, on record as %q\n%s", route, p.Status, p.Location, made, plainText(p.Body))
		}
		for _, kind := range made {
			if !slices.Contains(strings.Fields(row.acts), kind) {
				t.Errorf("%s is on record as %s", route, kind)
			}
		}
	}
}

// entriesOf are the kinds of what a person has done, as it is on record, the oldest first.
func (d *dashboard) entriesOf(m connectors.Member) []string {
	d.t.Helper()
	var all []string
	d.AsSystem(d.t, `select coalesce(array_agg(action order by id), '{}') from audit_events where tenant_id = $1 and actor_id = $2`, []any{d.Tenant, m.UserID.UUID}, &all)
	return all
}
