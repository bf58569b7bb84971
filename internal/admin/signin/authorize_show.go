package signin

import (
	"context"
	"net/http"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// tenantParam is the page's query parameter for the tenant. Programs do not send it.
const tenantParam = "patchbay_tenant"

// agentsParam is the cursor of the page's list of agents. Programs do not send it.
const agentsParam = "patchbay_agents"

// newAgentChoice is the option for a new agent. Browsers do not send an empty radio value.
const newAgentChoice = "+"

// authorizeShow is the OAuth consent page. An invalid request is shown here and not redirected to the program.
func (h *Handler) authorizeShow(w http.ResponseWriter, r *http.Request) error {
	request, err := h.readAuthorizeRequest(w, r)
	if err != nil {
		return err
	}
	person, err := actorInTenant(r, r.URL.Query().Get(tenantParam))
	if err != nil {
		return err
	}
	if h.requiresConfirmation(person, request) {
		return h.redirectToConfirm(w, r)
	}
	return h.authorizePage(w, r, person, request, templates.Form{}, http.StatusOK)
}

// readAuthorizeRequest reads the program's authorization request. It sets Referrer-Policy, because the address
// holds the program's state.
func (h *Handler) readAuthorizeRequest(w http.ResponseWriter, r *http.Request) (authserver.Request, error) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if len(r.URL.RequestURI()) > maxReturnTo {
		return authserver.Request{}, errReturnTooLong() // a sign-in on the way could not return to it
	}
	shell.ClearWriteDeadline(w)
	query := r.URL.Query()
	query.Del(tenantParam)
	query.Del(agentsParam)
	return h.AuthServer.Request(r.Context(), query)
}

// actorInTenant returns the person in one of their tenants; an empty slug is the current one.
func actorInTenant(r *http.Request, slug string) (auth.Actor, error) {
	if slug == "" {
		return shell.Actor(r), nil
	}
	return shell.Actor(r).ForTenant(slug)
}

func (h *Handler) authorizePage(w http.ResponseWriter, r *http.Request, person auth.Actor, request authserver.Request, f templates.Form, status int) error {
	ctx := r.Context()
	if request.AsMember() {
		return h.authorizeAsMemberPage(w, r, person, request, f, status)
	}
	agents, err := h.AuthServer.Agents(ctx, person, r.URL.Query().Get(agentsParam))
	denied := ""
	if fault.Is(err, fault.Denied) {
		denied, err = respond.LocalizedFault(ctx, err).Message, nil
	}
	if err != nil {
		return err
	}
	page := h.newAuthorizePage(w, r, person, request, f)
	page.Opens, page.Agents, page.Denied = shell.ReachableConnectors(ctx, request.Resource), agentChoices(ctx, agents.Items, request.Client.Name), denied
	page.Pager = agentPager(r, person, agents.Next)
	return h.Respond.Page(w, r, status, templates.Authorize(page))
}

// authorizeAsMemberPage asks whether a program may act as the person, and with which scope.
func (h *Handler) authorizeAsMemberPage(w http.ResponseWriter, r *http.Request, person auth.Actor, request authserver.Request, f templates.Form, status int) error {
	ctx := r.Context()
	page := h.newAuthorizePage(w, r, person, request, f)
	page.Opens, page.Role = i18n.T(ctx, "Patchbay, as you"), shell.RoleName(ctx, person.Role)
	for _, scope := range request.Scopes {
		page.Scopes = append(page.Scopes, templates.Option{Value: string(scope), Label: scopeName(ctx, scope, person.Role)})
	}
	return h.Respond.Page(w, r, status, templates.Authorize(page))
}

func scopeName(ctx context.Context, scope connectors.ClientScope, role connectors.Role) string {
	switch {
	case scope == connectors.ScopeAdmin:
		return i18n.T(ctx, "do everything you can")
	case scope.Limit(role) == connectors.RoleViewer:
		return i18n.T(ctx, "only read, like a viewer")
	default:
		return i18n.T(ctx, "only read")
	}
}

// newAuthorizePage fills the parts that both consent pages share.
func (h *Handler) newAuthorizePage(w http.ResponseWriter, r *http.Request, person auth.Actor, request authserver.Request, f templates.Form) templates.AuthorizePage {
	ctx := r.Context()
	frame := h.SignedOutFrame(r, i18n.T(ctx, "Allow a client?"))
	frame.Path = r.URL.RequestURI()
	allowFormRedirect(w.Header(), request.RedirectURI)
	return templates.AuthorizePage{
		Frame: frame, Host: request.Client.Host, Name: request.Client.Name, Goes: redirectTargetName(ctx, request.Place()), Local: request.Place().Local,
		Person: person.Email, Tenant: templates.TenantChoice{Slug: person.Tenant.Slug, Name: person.Tenant.Name},
		Elsewhere: otherTenantLinks(r, person), Form: f, Action: withoutTenant(r.URL),
	}
}

// agentChoices lists the agents a program can become. The new agent comes first: it has no grants.
func agentChoices(ctx context.Context, agents []connectors.Agent, client string) []templates.Option {
	all := []templates.Option{{Value: newAgentChoice, Label: i18n.T(ctx, "New agent for “%s”", client)}}
	for _, a := range agents {
		all = append(all, templates.Option{Value: a.Slug, Label: a.Name})
	}
	return all
}

// agentPager leads to the same page with other agents.
func agentPager(r *http.Request, person auth.Actor, next string) (p templates.Pager) {
	query := r.URL.Query()
	query.Set(tenantParam, person.Tenant.Slug) // a redisplayed form names the tenant in its body only
	if query.Has(agentsParam) {
		query.Del(agentsParam)
		p.First = shell.WithQuery(r.URL.Path, query)
	}
	if next != "" {
		query.Set(agentsParam, next)
		p.Next = shell.WithQuery(r.URL.Path, query)
	}
	return p
}

// otherTenantLinks lead to the same request in the person's other tenants.
func otherTenantLinks(r *http.Request, person auth.Actor) []templates.Link {
	var links []templates.Link
	for _, m := range person.Memberships {
		if m.Tenant.ID == person.Tenant.ID {
			continue
		}
		query := r.URL.Query()
		query.Set(tenantParam, m.Tenant.Slug)
		query.Del(agentsParam)
		links = append(links, templates.Link{Text: i18n.T(r.Context(), "Switch to %s", m.Tenant.Name), Href: r.URL.Path + "?" + query.Encode()})
	}
	return links
}

func withoutTenant(u *url.URL) string {
	query := u.Query()
	query.Del(tenantParam)
	return u.Path + "?" + query.Encode()
}

func redirectTargetName(ctx context.Context, p authserver.RedirectTarget) string {
	switch {
	case p.App != "":
		return i18n.T(ctx, "an app on your computer (%s)", p.App+":")
	case p.Local:
		return i18n.T(ctx, "your computer (%s)", p.Host)
	default:
		return p.Host
	}
}
