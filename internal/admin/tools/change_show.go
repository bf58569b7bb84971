package tools

import (
	"context"
	"net/http"
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

// historyPageSize is the number of changes on a tool's page.
const historyPageSize = 20

// changeCurrent shows a tool's newest change with its history.
func (h *Handler) changeCurrent(w http.ResponseWriter, r *http.Request) error {
	return h.changePage(w, r, nil)
}

// instructionsChange shows the newest change of the server's instructions, or the one in the address, with its
// history.
func (h *Handler) instructionsChange(w http.ResponseWriter, r *http.Request) error {
	if named := r.URL.Query().Get("change"); named != "" {
		return h.changePageByRef(w, r, connectors.Ref(named))
	}
	return h.changePage(w, r, nil)
}

func (h *Handler) changeShow(w http.ResponseWriter, r *http.Request) error {
	return h.changePageByRef(w, r, shell.PathRef(r, "change"))
}

func (h *Handler) changePageByRef(w http.ResponseWriter, r *http.Request, change connectors.Ref) error {
	id, ok := change.UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "No such change.")
	}
	return h.changePage(w, r, &connectors.ToolChangeID{UUID: id})
}

func (h *Handler) changePage(w http.ResponseWriter, r *http.Request, id *connectors.ToolChangeID) error {
	tool := shell.PathValue(r, "tool")
	page := store.Page{Limit: historyPageSize, Cursor: r.URL.Query().Get("cursor")}
	among, err := h.Registry.ToolChange(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"), tool, id, page)
	if err != nil {
		return err
	}
	c := among.Connector
	path, name, list := shell.ReviewedPath(c.Slug, tool), ChangedName(r.Context(), tool), readReturnList(r.URL.Query().Get("return_to"))
	frame := h.NewFrame(r, templates.NavChanges,
		shell.NewCrumb(i18n.T(r.Context(), "Changes"), list),
		shell.NewCrumb(c.Name, shell.ConnectorPath(c.Slug)+"/tools"),
		templates.Crumb{Text: name, Mono: tool != connectors.InstructionsTool})
	frame.Title = i18n.T(r.Context(), "Change · %s", name)
	view := templates.ChangePage{
		Frame: frame, Tool: name, ToolHref: path, Connector: c.Name, Action: path, ReturnTo: list, Pager: shell.NewPager(r, among.History.Next),
		State: templates.State{Kind: templates.StateOff, Text: i18n.T(r.Context(), "Never changed")},
	}
	if tool == connectors.InstructionsTool {
		view.OfServer, view.ToolHref = true, shell.ConnectorPath(c.Slug)
	}
	for _, change := range among.History.Items {
		row := changeRow(r.Context(), change, h.Now())
		row.Connector, row.Href = "", withReturnTo(shell.ChangeHref(c.Slug, tool, change.ID), list)
		if change.State == connectors.ChangeWaiting {
			row.State = templates.State{Kind: templates.StateWarn, Text: i18n.T(r.Context(), "Waiting")}
		}
		view.History = append(view.History, row)
	}
	if among.Shown != nil {
		if view.Said, err = h.curationText(r, c, tool); err != nil {
			return err
		}
		fillChange(r.Context(), &view, *among.Shown, h.Now())
		view.CanAccept, view.CanReject = allowedDecisions(among, frame.Can)
		view.Decision = decisionHelp(r.Context(), tool, among.Shown.Before != nil, view.CanReject)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Change(view))
}

// decisionHelp says what the buttons do.
func decisionHelp(ctx context.Context, tool string, served, canReject bool) string {
	switch {
	case tool == connectors.InstructionsTool && !canReject:
		return i18n.T(ctx, "If accepted, agents get the new instructions.")
	case tool == connectors.InstructionsTool:
		return i18n.T(ctx, "Agents keep the old instructions unless an admin accepts.")
	case !canReject:
		return i18n.T(ctx, "If accepted, agents get the new version.")
	case served:
		return i18n.T(ctx, "Agents see the old version for now. Accepting serves the new one; rejecting hides the tool.")
	}
	return i18n.T(ctx, "Agents can't see the tool unless an admin accepts it.")
}

// readReturnList is the list that the person came from, by default that of waiting changes.
func readReturnList(raw string) string {
	if path := respond.OwnPath(raw, "/changes"); strings.HasPrefix(path, "/changes?") {
		return path
	}
	return "/changes"
}

// allowedDecisions returns the decisions an admin may take: about the newest change only.
func allowedDecisions(among manage.ToolChangePage, can templates.Permissions) (accept, reject bool) {
	if !can.Manage || !among.Newest || among.Shown.After == nil {
		return false, false
	}
	waits := among.Shown.State == connectors.ChangeWaiting
	return waits || among.Shown.State == connectors.ChangeRejected, waits
}
