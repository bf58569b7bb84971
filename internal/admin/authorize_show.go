package admin

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// tenantParam is how the page names the tenant that it asks about. No program says it.
const tenantParam = "patchbay_tenant"

// agentsParam is where the page's list of agents begins, as a cursor. No program says it either.
const agentsParam = "patchbay_agents"

// newAgent is the choice of an agent that is made for the program.
// An empty one could not be sent: browsers take it for no choice.
const newAgent = "+"

// authorizeShow asks whether a program may be an agent. Programs send browsers here: what is wrong with what they ask for is told here, and not
// at an address of theirs.
func (h *Handler) authorizeShow(w http.ResponseWriter, r *http.Request) error {
	asked, err := h.asked(w, r)
	if err != nil {
		return err
	}
	who, err := within(r, r.URL.Query().Get(tenantParam))
	if err != nil {
		return err
	}
	if h.asksFirst(who, asked) {
		return h.confirmFirst(w, r)
	}
	return h.authorizePage(w, r, who, asked, templates.Form{}, http.StatusOK)
}

// asked reads what a program asks for. No page that follows tells where it was reached from: the address holds the program's state.
func (h *Handler) asked(w http.ResponseWriter, r *http.Request) (authserver.Request, error) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if len(r.URL.RequestURI()) > mostReturnTo {
		return authserver.Request{}, tooLong() // whoever signs in elsewhere first would not come back to it
	}
	waitLong(w)
	query := r.URL.Query()
	query.Del(tenantParam)
	query.Del(agentsParam)
	return h.programs.Request(r.Context(), query)
}

// within is the person in one of their tenants; empty: in the one that they are in.
func within(r *http.Request, slug string) (auth.Actor, error) {
	if slug == "" {
		return actor(r), nil
	}
	return actor(r).In(slug)
}

func (h *Handler) authorizePage(w http.ResponseWriter, r *http.Request, who auth.Actor, asked authserver.Request, f templates.Form, status int) error {
	ctx := r.Context()
	if asked.AsMember() {
		return h.authorizeAsMemberPage(w, r, who, asked, f, status)
	}
	agents, err := h.programs.Agents(ctx, who, r.URL.Query().Get(agentsParam))
	denied := ""
	if fault.Is(err, fault.Denied) {
		denied, err = respond.Told(ctx, err).Message, nil
	}
	if err != nil {
		return err
	}
	page := h.question(w, r, who, asked, f)
	page.Opens, page.Agents, page.Denied = opensName(ctx, asked.Resource), agentChoices(ctx, agents.Items, asked.Client.Name), denied
	page.Pager = agentPages(r, who, agents.Next)
	return h.respond.Page(w, r, status, templates.Authorize(page))
}

// authorizeAsMemberPage asks whether a program may act as the person, and how far.
func (h *Handler) authorizeAsMemberPage(w http.ResponseWriter, r *http.Request, who auth.Actor, asked authserver.Request, f templates.Form, status int) error {
	ctx := r.Context()
	page := h.question(w, r, who, asked, f)
	page.Opens, page.Role = words.T(ctx, "Patchbay itself, as you"), roleName(ctx, who.Role)
	for _, scope := range asked.Scopes {
		page.Scopes = append(page.Scopes, templates.Option{Value: string(scope), Label: scopeName(ctx, scope, who.Role)})
	}
	return h.respond.Page(w, r, status, templates.Authorize(page))
}

func scopeName(ctx context.Context, scope connectors.ClientScope, role connectors.Role) string {
	switch {
	case scope == connectors.ScopeAdmin:
		return words.T(ctx, "do all that you may do")
	case scope.Limit(role) == connectors.RoleViewer:
		return words.T(ctx, "only read, as a viewer does")
	default:
		return words.T(ctx, "only read")
	}
}

// question is what the page says of a request whatever it is about.
func (h *Handler) question(w http.ResponseWriter, r *http.Request, who auth.Actor, asked authserver.Request, f templates.Form) templates.AuthorizePage {
	ctx := r.Context()
	frame := h.door(r, words.T(ctx, "Let a program in?"))
	frame.Path = r.URL.RequestURI()
	allowAnswer(w.Header(), asked.RedirectURI)
	return templates.AuthorizePage{
		Frame: frame, Host: asked.Client.Host, Name: asked.Client.Name, Goes: placeName(ctx, asked.Place()), Local: asked.Place().Local,
		Person: who.Email, Tenant: templates.TenantChoice{Slug: who.Tenant.Slug, Name: who.Tenant.Name},
		Elsewhere: elsewhere(r, who), Form: f, Action: withoutTenant(r.URL),
	}
}

// agentChoices are what a program can be. The new agent is first, which opens nothing: more is a choice.
func agentChoices(ctx context.Context, agents []connectors.Agent, client string) []templates.Option {
	all := []templates.Option{{Value: newAgent, Label: words.T(ctx, "a new one, for “%s” alone", client)}}
	for _, a := range agents {
		all = append(all, templates.Option{Value: a.Slug, Label: a.Name})
	}
	return all
}

// agentPages leads to the same question with other agents to choose from.
func agentPages(r *http.Request, who auth.Actor, next string) (p templates.Pager) {
	query := r.URL.Query()
	query.Set(tenantParam, who.Tenant.Slug) // which a form that came back names in its body alone
	if query.Has(agentsParam) {
		query.Del(agentsParam)
		p.First = withQuery(r.URL.Path, query)
	}
	if next != "" {
		query.Set(agentsParam, next)
		p.Next = withQuery(r.URL.Path, query)
	}
	return p
}

// elsewhere asks the same question in the person's other tenants.
func elsewhere(r *http.Request, who auth.Actor) []templates.Link {
	var links []templates.Link
	for _, m := range who.Memberships {
		if m.Tenant.ID == who.Tenant.ID {
			continue
		}
		query := r.URL.Query()
		query.Set(tenantParam, m.Tenant.Slug)
		query.Del(agentsParam)
		links = append(links, templates.Link{Text: words.T(r.Context(), "Choose %s instead", m.Tenant.Name), Href: r.URL.Path + "?" + query.Encode()})
	}
	return links
}

func withoutTenant(u *url.URL) string {
	query := u.Query()
	query.Del(tenantParam)
	return u.Path + "?" + query.Encode()
}

func placeName(ctx context.Context, p authserver.Place) string {
	switch {
	case p.App != "":
		return words.T(ctx, "the program on your computer for %s links", p.App+":")
	case p.Local:
		return words.T(ctx, "your computer, %s", p.Host)
	default:
		return p.Host
	}
}

func opensName(ctx context.Context, resource string) string {
	if _, slug, one := strings.Cut(strings.TrimPrefix(resource, "/"), "/"); one {
		return words.T(ctx, "the connector %s alone", slug)
	}
	return words.T(ctx, "all connectors of the agent")
}
