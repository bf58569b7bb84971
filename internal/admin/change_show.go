package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/registry"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// historyPage is how many changes a tool's page lists.
const historyPage = 20

// changeCurrent shows the newest change of a tool, with those before it.
func (h *Handler) changeCurrent(w http.ResponseWriter, r *http.Request) error {
	return h.change(w, r, nil)
}

// changeShow shows one change of a tool.
func (h *Handler) changeShow(w http.ResponseWriter, r *http.Request) error {
	id, ok := ref(r, "change").UUID()
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
	path := toolPath(c.Slug, tool)
	frame := h.frame(r, templates.NavChanges,
		crumb("Changes", "/changes"),
		crumb(c.Name, connectorPath(c.Slug)+"/tools"),
		templates.Crumb{Text: shorten(tool, maxName), Mono: true})
	frame.Title = "Change · " + shorten(tool, maxName)
	view := templates.ChangePage{
		Frame: frame, Tool: shorten(tool, maxName), ToolHref: path, Connector: c.Name, Action: path, Pager: pager(r, among.History.Next),
		State: templates.State{Kind: templates.StateOff, Text: "Never changed"},
	}
	for _, change := range among.History.Items {
		row := changeRow(change, h.now())
		row.Connector, row.Href = "", path+"/changes/"+change.ID.String()
		if change.State == connectors.ChangeWaiting {
			row.State = templates.State{Kind: templates.StateWarn, Text: "Waits"}
		}
		view.History = append(view.History, row)
	}
	if among.Shown != nil {
		fillChange(&view, *among.Shown, h.now())
		view.CanAccept, view.CanReject = decisions(among, frame.Can)
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Change(view))
}

// decisions says what may be decided: about the newest change alone, by an admin.
func decisions(among registry.ToolChangeAmong, can templates.Can) (accept, reject bool) {
	if !can.Manage || !among.Newest || among.Shown.After == nil {
		return false, false
	}
	waits := among.Shown.State == connectors.ChangeWaiting
	return waits || among.Shown.State == connectors.ChangeRejected, waits
}
