package admin

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/registry"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// historyPage is how many changes a tool's page lists.
const historyPage = 20

// changeCurrent shows the newest change of a tool, with those before it.
func (h *Handler) changeCurrent(w http.ResponseWriter, r *http.Request) error {
	return h.change(w, r, nil)
}

// changeOfInstructions shows the newest change of the server's instructions, or the one that the address names, with those before it.
func (h *Handler) changeOfInstructions(w http.ResponseWriter, r *http.Request) error {
	if named := r.URL.Query().Get("change"); named != "" {
		return h.changeNamed(w, r, connectors.Ref(named))
	}
	return h.change(w, r, nil)
}

// changeShow shows one change of a tool.
func (h *Handler) changeShow(w http.ResponseWriter, r *http.Request) error {
	return h.changeNamed(w, r, ref(r, "change"))
}

func (h *Handler) changeNamed(w http.ResponseWriter, r *http.Request, change connectors.Ref) error {
	id, ok := change.UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "There is no such change.")
	}
	return h.change(w, r, &connectors.ToolChangeID{UUID: id})
}

func (h *Handler) change(w http.ResponseWriter, r *http.Request, id *connectors.ToolChangeID) error {
	tool := pathValue(r, "tool")
	page := store.Page{Limit: historyPage, Cursor: r.URL.Query().Get("cursor")}
	among, err := h.registry.ToolChange(r.Context(), actor(r).Tenant.ID, ref(r, "id"), tool, id, page)
	if err != nil {
		return err
	}
	c := among.Connector
	path, name, list := reviewedPath(c.Slug, tool), changedName(r.Context(), tool), changesLeft(r.URL.Query().Get("return_to"))
	frame := h.frame(r, templates.NavChanges,
		crumb(words.T(r.Context(), "Changes"), list),
		crumb(c.Name, connectorPath(c.Slug)+"/tools"),
		templates.Crumb{Text: name, Mono: tool != connectors.OfInstructions})
	frame.Title = words.T(r.Context(), "Change · %s", name)
	view := templates.ChangePage{
		Frame: frame, Tool: name, ToolHref: path, Connector: c.Name, Action: path, ReturnTo: list, Pager: pager(r, among.History.Next),
		State: templates.State{Kind: templates.StateOff, Text: words.T(r.Context(), "Never changed")},
	}
	if tool == connectors.OfInstructions {
		view.OfServer, view.ToolHref = true, connectorPath(c.Slug)
	}
	for _, change := range among.History.Items {
		row := changeRow(r.Context(), change, h.now())
		row.Connector, row.Href = "", leadingBack(changeHref(c.Slug, tool, change.ID), list)
		if change.State == connectors.ChangeWaiting {
			row.State = templates.State{Kind: templates.StateWarn, Text: words.T(r.Context(), "Waits")}
		}
		view.History = append(view.History, row)
	}
	if among.Shown != nil {
		if view.Said, err = h.saidOfTool(r, c, tool); err != nil {
			return err
		}
		fillChange(r.Context(), &view, *among.Shown, h.now())
		view.CanAccept, view.CanReject = decisions(among, frame.Can)
		view.Decision = decisionWords(r.Context(), tool, among.Shown.Before != nil, view.CanReject)
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Change(view))
}

// decisionWords say what the buttons do.
func decisionWords(ctx context.Context, tool string, served, canReject bool) string {
	switch {
	case tool == connectors.OfInstructions && !canReject:
		return words.T(ctx, "Accepted, agents are given the instructions as they are now.")
	case tool == connectors.OfInstructions:
		return words.T(ctx, "Until somebody decides, agents are given the instructions as they were. Accepted, they are given them as they are now; rejected, as they were.")
	case !canReject:
		return words.T(ctx, "Accepted, agents are served the tool as it is now.")
	case served:
		return words.T(ctx, "Until somebody decides, agents are served the tool as it was. Accepted, they are served it as it is now; rejected, they do not see it.")
	}
	return words.T(ctx, "Until somebody decides, agents do not see the tool. Accepted, they are served it; rejected, they still do not see it.")
}

// changesLeft is the list of changes that somebody came from: all that wait, where it is not known.
func changesLeft(raw string) string {
	if path := respond.OwnPath(raw, "/changes"); strings.HasPrefix(path, "/changes?") {
		return path
	}
	return "/changes"
}

// decisions says what may be decided: about the newest change alone, by an admin.
func decisions(among registry.ToolChangeAmong, can templates.Can) (accept, reject bool) {
	if !can.Manage || !among.Newest || among.Shown.After == nil {
		return false, false
	}
	waits := among.Shown.State == connectors.ChangeWaiting
	return waits || among.Shown.State == connectors.ChangeRejected, waits
}
