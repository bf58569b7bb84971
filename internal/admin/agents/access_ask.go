package agents

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// accessAskShow shows the form of a request, filled in from agent, connector and tool of the address, or from agent and name, a
// tool's name for the agent.
func (h *Handler) accessAskShow(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	tools := query["tool"]
	form := templates.Form{Values: map[string]string{
		"agent": query.Get("agent"), "connector": query.Get("connector"), "all": strconv.FormatBool(len(tools) == 0), "until": defaultEnd,
	}}
	if name := query.Get("name"); name != "" {
		form.Values["name"], form.Values["all"] = name, "false"
	}
	return h.accessAskPage(w, r, http.StatusOK, form, tools)
}

// askState is what the form of a request shows.
type askState struct {
	agents     []connectors.Agent
	connectors []connectors.Connector
	agent      connectors.Agent     // zero unless the form names one
	connector  connectors.Connector // likewise
	named      string               // the upstream's name of the form's tool; empty: none
	choices    []store.ToolChoice
}

func (h *Handler) loadAsk(r *http.Request, form templates.Form) (s askState, chosen bool, err error) {
	ctx := r.Context()
	err = h.TenantStore(r).Snapshot(ctx, func(tx *store.Tenant) error {
		if s.agent, err = tx.Agents().Get(ctx, connectors.Ref(form.Value("agent"))); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		isAgent := err == nil
		connector := connectors.Ref(form.Value("connector"))
		if name := form.Value("name"); isAgent && name != "" {
			if connector, s.named, err = h.findNamed(ctx, tx, s.agent.ID, name); err != nil {
				return err
			}
		}
		if s.connector, err = tx.Connectors().Get(ctx, connector); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if chosen = isAgent && err == nil; chosen {
			s.choices, err = tx.Agents().ToolChoices(ctx, s.connector.ID, nil)
			return err
		}
		agents, err := tx.Agents().List(ctx, store.Page{Limit: store.MaxLimit})
		if err != nil {
			return err
		}
		all, err := tx.Connectors().List(ctx, store.ConnectorFilter{Page: store.Page{Limit: store.MaxLimit}})
		s.agents, s.connectors = agents.Items, all.Items
		return err
	})
	return s, chosen, err
}

// findNamed returns the connector of a tool's name for the agent, and the upstream's name. A name of no tool may name a connector.
func (h *Handler) findNamed(ctx context.Context, tx *store.Tenant, agent connectors.AgentID, name string) (connector connectors.Ref, tool string, err error) {
	named, err := h.Access.WhyIn(ctx, tx, agent, name)
	if slug, ok := connectors.ExposedSlug(name); ok && named.Tool == "" {
		return connectors.Ref(slug), "", err
	}
	return connectors.Ref(named.Connector), named.Tool, err
}

func (h *Handler) accessAskPage(w http.ResponseWriter, r *http.Request, status int, form templates.Form, tools []string) error {
	s, chosen, err := h.loadAsk(r, form)
	if err != nil {
		return err
	}
	form.Values["agent"], form.Values["connector"] = s.agent.Slug, s.connector.Slug // the form may have had ids
	ctx := r.Context()
	page := templates.AccessAskPage{
		Frame: h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(ctx, "Access requests"), "/access/requests"), shell.NewCrumb(i18n.T(ctx, "Ask for access"), "")),
		Form:  form, Chosen: chosen, Other: "/access/request", Ends: endOptions(ctx),
	}
	for _, a := range s.agents {
		page.Agents = append(page.Agents, templates.Option{Value: a.Slug, Label: a.Name})
	}
	for _, c := range s.connectors {
		page.Connectors = append(page.Connectors, templates.Option{Value: c.Slug, Label: c.Name})
	}
	if chosen {
		page.Title = s.agent.Name + " → " + s.connector.Name
		if s.named != "" {
			tools = append(tools, s.named)
		}
		page.Tools = askedTools(ctx, s.choices, tools)
		if len(s.choices) == store.MaxToolChoices {
			page.More = i18n.T(ctx, "First %s shown. Ask for others through the API.", i18n.Number(ctx, store.MaxToolChoices))
		}
	}
	return h.Respond.Page(w, r, status, templates.AccessAsk(page))
}

// askedTools are the tools of the form. A chosen one that the server does not list is shown, too.
func askedTools(ctx context.Context, choices []store.ToolChoice, chosen []string) []templates.AskedTool {
	var tools []templates.AskedTool
	listed := map[string]bool{}
	for _, c := range choices {
		t := templates.AskedTool{Name: c.Name, Shown: shell.CleanText(c.Name), Title: shell.ShortenText(c.Title, shell.MaxName), Checked: slices.Contains(chosen, c.Name)}
		if c.Raw != nil {
			t.Badges = shell.HintBadges(ctx, connectors.DecodeTool(c.Raw))
		}
		if badge, ok := toolpages.ReviewBadge(ctx, c.Review); ok {
			t.Badges = append(t.Badges, badge)
		}
		tools, listed[c.Name] = append(tools, t), true
	}
	for _, name := range chosen {
		if name != "" && !listed[name] {
			tools = append(tools, templates.AskedTool{Name: name, Shown: shell.ShortenText(name, shell.MaxName), Checked: true})
			listed[name] = true
		}
	}
	slices.SortStableFunc(tools, func(a, b templates.AskedTool) int { return boolOrder(b.Checked) - boolOrder(a.Checked) })
	return tools
}

func boolOrder(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// accessAsk stores a request for access.
func (h *Handler) accessAsk(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	asked, err := h.askFor(r, f)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.accessAskPage(w, r, respond.Status(problem.Kind), f.ToForm(problem), f.Values["tool"])
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, accessRequestPath(asked.ID), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Request sent. Admins were notified.")})
}

func (h *Handler) askFor(r *http.Request, f shell.PostedForm) (store.RequestedAccess, error) {
	until, err := readEnd(f, nil, h.Now())
	if err != nil {
		return store.RequestedAccess{}, err
	}
	return h.Registry.AskAccess(r.Context(), shell.Actor(r), manage.AccessAsk{
		Agent: connectors.Ref(f.Text("agent")), Connector: connectors.Ref(f.Text("connector")),
		AllTools: f.Checked("all"), Tools: f.Values["tool"], Reason: f.Text("reason"), Until: until,
	})
}

// askPath is the address of the form of a request for a tool.
func askPath(agent, connector, tool string) string {
	return shell.AskAccessPath(url.Values{"agent": {agent}, "connector": {connector}, "tool": {tool}})
}
