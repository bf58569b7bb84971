package connectors

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorAccess lists all agents with what each may use of a connector.
func (h *Handler) connectorAccess(w http.ResponseWriter, r *http.Request) error {
	ctx, query := r.Context(), r.URL.Query()
	skip, _ := strconv.Atoi(query.Get("cursor")) // an invalid cursor is the beginning
	filter := store.AccessFilter{
		Query: strings.TrimSpace(query.Get("q")), Access: store.AccessKind(query.Get("access")), Window: store.Window{Skip: max(0, skip), Limit: shell.PageSize(r)},
	}
	var (
		c     connectors.Connector
		rows  []store.AgentReach
		total int
	)
	err := h.TenantStore(r).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(ctx, shell.PathRef(r, "id")); err != nil {
			return err
		}
		rows, total, err = tx.Lists().ConnectorAccess(ctx, &c.ID, filter)
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
	page := templates.ConnectorAccessPage{
		Frame:  h.ConnectorFrame(r, c, i18n.T(ctx, "Access")),
		Head:   ConnectorHead(ctx, c, templates.TabAccess, h.ConnectorMark(c)),
		Filter: templates.Form{Values: map[string]string{"q": filter.Query, "access": string(filter.Access)}},
		Kinds: []templates.Option{
			{Label: i18n.T(ctx, "Any access")}, {Value: string(store.AccessGranted), Label: i18n.T(ctx, "Granted")}, {Value: string(store.AccessNone), Label: i18n.T(ctx, "No access")},
		},
		Filtered: filter.Query != "" || filter.Access != "",
		ReturnTo: shell.WithQuery(r.URL.Path, query),
		All:      query.Get("choose") == "all", AllHref: shell.ChooseAllPath(r),
		Count: shell.FormatCount(ctx, len(rows), pager, "%s agent", "%s agents"),
		Pager: pager,
	}
	for _, a := range rows {
		row := templates.AgentReachRow{
			Name: a.Name, Slug: a.Slug, Initial: shell.InitialLetter(a.Name), Href: shell.AgentPath(a.Slug) + shell.ConnectorPath(c.Slug),
			State: templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Enabled")}, Tools: i18n.T(ctx, "No access"),
		}
		if !a.Enabled {
			row.State = templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Disabled")}
		}
		if a.Granted {
			row.Approval = shell.ApprovalName(ctx, *cmp.Or(a.Approval, &a.Own))
			row.Tools = shell.AllTools(ctx, c.ToolCount)
			if !a.AllTools {
				row.Tools = i18n.N(ctx, c.ToolCount, "%[2]s of %[1]s tool", "%[2]s of %[1]s tools", i18n.Number(ctx, a.Tools))
			}
			switch end := shell.FormatEnd(ctx, a.Until, h.Now()); {
			case a.Ended:
				row.Tools = end
			case a.Until != nil && a.Until.After(h.Now()):
				row.Tools += " · " + end
			}
		}
		page.Rows = append(page.Rows, row)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorAccess(page))
}

// connectorAccessSave grants the connector to the selected agents, or removes their access.
func (h *Handler) connectorAccessSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	target := shell.PathRef(r, "id")
	if _, err := h.TenantStore(r).Connectors().Get(r.Context(), target); err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.Text("return_to"), shell.ConnectorPath(string(target))+"/access")
	changed := 0
	do, agents := f.Text("do"), shell.ToRefs(f.Values["agent"])
	switch {
	case do != "grant" && do != "remove":
		err = fault.Errorf(fault.Invalid, "Choose an action.")
	case len(agents) == 0:
		err = fault.Errorf(fault.Invalid, "Select an agent.")
	default:
		changed, err = h.Registry.ChangeAccess(r.Context(), shell.Actor(r), agents, target, manage.GrantChange{AllTools: do == "grant", Remove: do == "remove", Sure: f.IsSure()})
	}
	if wrong, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Alert, Text: wrong.Message})
	}
	if asked, err := h.AskBroadGrants(w, r, err); asked || err != nil {
		return err
	}
	text := i18n.N(r.Context(), changed, "Access of %s agent changed.", "Access of %s agents changed.")
	if do == "remove" {
		text = i18n.N(r.Context(), changed, "Access of %s agent removed.", "Access of %s agents removed.")
	}
	return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Notice, Text: text})
}
