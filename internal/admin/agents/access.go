package agents

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// maxGrants bounds the grants that a page lists.
const maxGrants = 200

// accessPageSize is large, so that an agent's access is on one page.
const accessPageSize = manage.MaxGrants

// agentAccess lists all connectors with what the agent may use of each.
func (h *Handler) agentAccess(w http.ResponseWriter, r *http.Request) error {
	ctx, query := r.Context(), r.URL.Query()
	skip, _ := strconv.Atoi(query.Get("cursor")) // an invalid cursor is the beginning
	filter := store.AccessFilter{
		Query: strings.TrimSpace(query.Get("q")), Access: store.AccessKind(query.Get("access")), Tag: query.Get("tag"),
		Window: store.Window{Skip: max(0, skip), Limit: accessPageSize},
	}
	var (
		a     connectors.Agent
		view  *agentview.View
		rows  []store.ConnectorReach
		total int
		tags  []string
	)
	err := h.TenantStore(r).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if a, err = tx.Agents().Get(ctx, shell.PathRef(r, "id")); err != nil {
			return err
		}
		if view, err = h.Access.LoadFrom(ctx, tx.Agents(), a.ID); err != nil {
			return err
		}
		if tags, err = tx.Lists().ConnectorTags(ctx); err != nil {
			return err
		}
		rows, total, err = tx.Lists().AgentAccess(ctx, a.ID, filter)
		return err
	})
	if err != nil {
		return err
	}
	next := ""
	if end := filter.Skip + len(rows); end < total {
		next = strconv.Itoa(end)
	}
	pager := shell.WithTotal(shell.NewPager(r, next, len(rows)), total)
	files := shell.FilesPager(shell.AgentPath(string(shell.PathRef(r, "id"))) + "/access")
	pager.CSV, pager.JSON = files.CSV, files.JSON
	page := templates.AgentAccessPage{
		Frame:     h.agentFrame(r, a, i18n.T(ctx, "Access")),
		Head:      agentHead(ctx, a, templates.AgentAccessTab),
		Filter:    templates.Form{Values: map[string]string{"q": filter.Query, "access": string(filter.Access), "tag": filter.Tag}},
		Kinds:     accessOptions(ctx),
		Tags:      shell.TagOptions(ctx, tags),
		Filtered:  filter.Query != "" || filter.Access != "" || filter.Tag != "",
		Rows:      h.accessRows(ctx, a, rows, view),
		Approvals: grantApprovals(ctx, a),
		ReturnTo:  shell.WithQuery(r.URL.Path, query),
		All:       query.Get("choose") == "all",
		Count:     shell.FormatCount(ctx, len(rows), pager, "%s connector", "%s connectors"),
		Pager:     pager,
	}
	page.AllHref = shell.ChooseAllPath(r)
	return h.Respond.Page(w, r, http.StatusOK, templates.AgentAccess(page))
}

func accessOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Label: i18n.T(ctx, "Any access")}, {Value: string(store.AccessGranted), Label: i18n.T(ctx, "Granted")},
		{Value: string(store.AccessAll), Label: i18n.T(ctx, "All tools")}, {Value: string(store.AccessSome), Label: i18n.T(ctx, "Selected tools")},
		{Value: string(store.AccessNone), Label: i18n.T(ctx, "No access")},
	}
}

func (h *Handler) accessRows(ctx context.Context, a connectors.Agent, reaches []store.ConnectorReach, view *agentview.View) []templates.GrantRow {
	rows := make([]templates.GrantRow, len(reaches))
	for i, c := range reaches {
		rows[i] = templates.GrantRow{
			Connector: c.Name, Slug: c.Slug, Mark: h.NamedMark(c.Name, c.Slug, c.Mark), Href: grantPath(a.Slug, c.Slug),
			State: shell.ConnectorState(ctx, connectors.Connector{Status: c.Status}), Tools: i18n.N(ctx, c.ToolCount, "%s tool", "%s tools"),
		}
		if !c.Granted {
			continue
		}
		g := connectors.Grant{AllTools: c.AllTools, Tools: make([]string, c.Reach.Tools), Approval: c.Approval, Prompts: c.Prompts, Resources: c.Resources}
		rows[i].Items, rows[i].Approval = grantedItems(ctx, g), grantApproval(ctx, a, g)
		rows[i].Account = accountsText(ctx, c.Accounts)
		if c.Reach.Ended || c.Reach.Until != nil && c.Reach.Until.After(h.Now()) {
			rows[i].Ends = shell.FormatEnd(ctx, c.Reach.Until, h.Now())
		}
		if !c.Reach.Ended {
			rows[i].Tools = grantedTools(ctx, g, c.ToolCount)
		}
		if tokens := countConnectorTokens(view, c.ID); tokens > 0 {
			rows[i].Tokens = i18n.Number(ctx, tokens)
		}
	}
	return rows
}

// agentAccessSave changes the agent's grants of all selected connectors, or none if one fails.
func (h *Handler) agentAccessSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	agent := shell.PathRef(r, "id")
	if _, err := h.TenantStore(r).Agents().Get(r.Context(), agent); err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.Text("return_to"), shell.AgentPath(string(agent))+"/access")
	change, err := readGrantChange(f)
	changed := 0
	if change.Sure = f.IsSure(); err == nil {
		changed, err = h.Registry.ChangeGrants(r.Context(), shell.Actor(r), agent, shell.ToRefs(f.Values["connector"]), change)
	}
	if wrong, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Alert, Text: wrong.Message})
	}
	if asked, err := h.AskBroadGrants(w, r, err); asked || err != nil {
		return err
	}
	text := i18n.N(r.Context(), changed, "Access to %s connector changed.", "Access to %s connectors changed.")
	if change.Remove {
		text = i18n.N(r.Context(), changed, "Access to %s connector removed.", "Access to %s connectors removed.")
	}
	return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Notice, Text: text})
}

// readGrantChange is the change that a button of the bar makes.
func readGrantChange(f shell.PostedForm) (manage.GrantChange, error) {
	switch f.Text("do") {
	case "grant":
		return manage.GrantChange{AllTools: true}, nil
	case "remove":
		return manage.GrantChange{Remove: true}, nil
	case "approval":
		return manage.GrantChange{Approval: new(connectors.ApprovalMode(f.Text("approval")))}, nil
	}
	return manage.GrantChange{}, fault.Errorf(fault.Invalid, "Choose an action.")
}

func grantPath(agent, connector string) string {
	return shell.AgentPath(agent) + shell.ConnectorPath(connector)
}

// grantedTools says how many of a connector's tools were granted. A negative available means that their number
// is not known.
func grantedTools(ctx context.Context, g connectors.Grant, available int) string {
	switch {
	case g.AllTools:
		return shell.AllTools(ctx, available)
	case available < len(g.Tools):
		return i18n.N(ctx, len(g.Tools), "%s tool", "%s tools")
	default:
		return i18n.N(ctx, available, "%[2]s of %[1]s tool", "%[2]s of %[1]s tools", i18n.Number(ctx, len(g.Tools)))
	}
}

// grantApproval says which calls need approval.
func grantApproval(ctx context.Context, a connectors.Agent, g connectors.Grant) string {
	if g.Approval == nil {
		return shell.ApprovalName(ctx, a.Approval)
	}
	return shell.ApprovalName(ctx, *g.Approval)
}
