package admin_test

import (
	"strings"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// things are the ids for path parameters.
type things struct {
	connector, agent, member, key, invitation, tool, link, token, workload, waiting, picture, webhook, delivery, change, run, session, program, acting, registry, stream, request string

	offer string // an entry of the catalog, which all tenants share
	reset string // the token of a link to set a new password
}

func (x things) fill(pattern string) string {
	id, token, program := x.connector, x.link, x.program
	switch {
	case pattern == "/reset":
		return pattern + "?token=" + x.reset
	case strings.HasPrefix(pattern, "/calls/{id}/pictures"):
		id = x.picture
	case strings.HasPrefix(pattern, "/calls"), strings.HasPrefix(pattern, "/approvals"):
		id = x.waiting
	case strings.HasPrefix(pattern, "/access/requests"):
		id = x.request
	case strings.HasPrefix(pattern, "/agents"), strings.HasPrefix(pattern, "/exports/agents/"):
		id, token = x.agent, x.token
	case strings.HasPrefix(pattern, "/account/sessions"):
		id = x.session
	case strings.HasPrefix(pattern, "/account/programs"):
		id = x.program
	case strings.HasPrefix(pattern, "/members"):
		id, program = x.member, x.acting
	case strings.HasPrefix(pattern, "/invitations"):
		id = x.invitation
	case strings.HasPrefix(pattern, "/api-keys"):
		id = x.key
	case strings.HasPrefix(pattern, "/audit/streams"):
		id = x.stream
	case strings.HasPrefix(pattern, "/registries"):
		id = x.registry
	case strings.HasPrefix(pattern, "/webhooks"), strings.HasPrefix(pattern, "/exports/webhooks"):
		id = x.webhook
	}
	return strings.NewReplacer(
		"{id}", id, "{agent}", x.agent, "{tool}", x.tool, "{token}", token, "{workload}", x.workload, "{connector}", x.connector, "{exposed}", "mcp_any__"+x.tool, "{delivery}", x.delivery, "{n}", "0", "{change}", x.change, "{run}", x.run, "{slug}", x.offer, "{program}", program,
	).Replace(pattern)
}

// ownThings are things of the tenant.
func (d *dashboard) ownThings() things {
	d.t.Helper()
	x := d.createThings(d.Tenant)
	x.offer, x.reset = "linear", d.createResetToken()
	return x
}

// createResetToken returns the token of a link to set a new password.
func (d *dashboard) createResetToken() string {
	d.t.Helper()
	links, err := d.auth.NewResetLinks(d.t.Context(), d.createMember(connectors.RoleViewer).Email)
	if err != nil || len(links) != 1 {
		d.t.Fatal(links, err)
	}
	return strings.TrimPrefix(links[0].Path, "/reset?token=")
}

func (d *dashboard) createThings(tenant connectors.TenantID) things {
	d.t.Helper()
	c := d.ConnectorIn(d.t, tenant)
	run := d.SyncedIn(d.t, tenant, c.ID, "search")
	d.saveIcon(tenant, c.ID)
	a := d.AgentIn(d.t, tenant)
	member := d.MemberIn(d.t, tenant, connectors.RoleViewer).UserID
	d.GrantIn(d.t, tenant, a.ID, c.ID)
	d.AllowanceIn(d.t, tenant, a.ID, c.ID, "search")
	d.createTaskCall(tenant, a, c, taskDocument("of the tenant"))
	hook, delivery := d.createWebhook(tenant)
	return things{
		offer:   "nothing",
		webhook: hook.ID.String(), delivery: delivery.ID.String(),
		change:    d.createCosmeticChange(tenant, c.ID).String(),
		connector: c.ID.String(), tool: "search", run: run.ID.String(),
		agent:    a.ID.String(),
		token:    d.createToken(tenant, a.ID).String(),
		workload: d.createWorkload(tenant, a.ID).String(),
		waiting:  d.createWaitingCall(tenant, a, c).String(),
		picture:  d.createPictureCall(tenant, a, c).String(),
		member:   member.String(),
		session:  d.createSession(member).String(),
		program:  d.ProgramIn(d.t, tenant, a.ID, member).String(),
		acting:   d.ProgramAsIn(d.t, tenant, member, connectors.ScopeAdmin).String(),

		invitation: d.createInvitation(tenant).String(),
		stream:     d.createAuditStream(tenant).String(),
		registry:   d.createRegistry(tenant, a.Slug).String(),
		request:    d.createAccessRequest(tenant, a.ID, c.ID).String(),
		key:        d.APIKeyIn(d.t, tenant, connectors.RoleViewer).ID.String(),
	}
}

func (d *dashboard) createAccessRequest(tenant connectors.TenantID, agent connectors.AgentID, connector connectors.ConnectorID) connectors.AccessRequestID {
	d.t.Helper()
	id, err := d.St.Tenant(tenant).AccessRequests().Create(d.t.Context(), connectors.AccessRequest{
		AgentID: agent, ConnectorID: connector, Tools: []string{"search"}, Reason: "For a report.", Asker: uuid.New(), AskedBy: "Ada",
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return id
}
