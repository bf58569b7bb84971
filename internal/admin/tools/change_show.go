package tools

import (
	"context"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolchange"
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
	view := h.newChangePage(r, among, tool)
	if among.Shown != nil {
		if view.Said, err = h.curationText(r, among.Connector, tool); err != nil {
			return err
		}
		fillChange(r.Context(), &view, *among.Shown, h.Now())
		fillDecisions(r.Context(), &view, among, view.Frame.Can)
		view.Earlier = earlierVersion(r.Context(), among, view.Frame.Can, h.Now())
	}
	if err := h.fillWithdrawal(r, &view, tool); err != nil {
		return err
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Change(view))
}

// newChangePage is the page without its change.
func (h *Handler) newChangePage(r *http.Request, among manage.ToolChangePage, tool string) templates.ChangePage {
	c := among.Connector
	path, name, list := shell.ReviewedPath(c.Slug, tool), ChangedName(r.Context(), tool), readReturnList(r.URL.Query().Get("return_to"))
	frame := h.NewFrame(r, templates.NavChanges,
		shell.NewCrumb(i18n.T(r.Context(), "Changes"), list),
		shell.NewCrumb(c.Name, shell.ConnectorPath(c.Slug)+"/tools"),
		templates.Crumb{Text: name, Mono: tool != connectors.InstructionsTool})
	frame.Title = i18n.T(r.Context(), "Change · %s", name)
	view := templates.ChangePage{
		Frame: frame, Tool: name, ToolHref: path, Connector: c.Name, Action: path, ReturnTo: list, Pager: shell.WithBoundedTotal(shell.NewPager(r, among.History.Next, len(among.History.Items)), among.Total),
		State: templates.State{Kind: templates.StateOff, Text: i18n.T(r.Context(), "Never changed")},
	}
	if tool == connectors.InstructionsTool {
		view.OfServer, view.ToolHref = true, shell.ConnectorPath(c.Slug)
	}
	if _, view.OfSkill = connectors.SkillOfTool(tool); view.OfSkill {
		view.ToolHref = shell.ConnectorPath(c.Slug) + "/resources"
	}
	for _, change := range among.History.Items {
		row := changeRow(r.Context(), change, h.Now())
		row.Connector, row.Href = "", withReturnTo(shell.ChangeHref(c.Slug, tool, change.ID), list)
		if change.State == connectors.ChangeWaiting {
			row.State = templates.State{Kind: templates.StateWarn, Text: i18n.T(r.Context(), "Waiting")}
		}
		view.History = append(view.History, row)
	}
	return view
}

// fillDecisions fills in the decisions that an admin may take: about the newest change only.
func fillDecisions(ctx context.Context, view *templates.ChangePage, among manage.ToolChangePage, can templates.Permissions) {
	shown := among.Shown
	if !can.Manage || !among.Newest || shown.After == nil || !shown.State.IsDecidable() {
		return
	}
	isTool := !keepsAccepted(shown.Tool)
	view.CanAccept, view.CanReject = true, shown.State != connectors.ChangeRejected && (isTool || shown.State == connectors.ChangeWaiting)
	view.CanKeep = isTool && shown.Before != nil && shown.State != connectors.ChangeKept && connectors.CanKeep(shown.Kinds)
	view.Decision = decisionHelp(ctx, *view, *shown)
	if shown.Risk == toolchange.High {
		view.Accepting = acceptQuestion(ctx, *view, among)
	}
}

// decisionHelp says what the buttons do.
func decisionHelp(ctx context.Context, view templates.ChangePage, c manage.ShownChange) string {
	switch {
	case view.OfSkill && !view.CanReject:
		return i18n.T(ctx, "If accepted, agents get the new version.")
	case view.OfSkill:
		return i18n.T(ctx, "Agents get files only as accepted. A changed file is refused until an admin accepts it.")
	case c.Tool == connectors.InstructionsTool && !view.CanReject:
		return i18n.T(ctx, "If accepted, agents get the new instructions.")
	case c.Tool == connectors.InstructionsTool:
		return i18n.T(ctx, "Agents keep the old instructions unless an admin accepts.")
	case view.CanKeep:
		return i18n.T(ctx, "Agents see the old version for now. Keeping it allows calls again, though the server already runs its new code; the next change asks you again. Rejecting hides the tool.")
	case c.State == connectors.ChangeKept:
		return i18n.T(ctx, "Agents see and call the old version, though the server runs its new code.")
	case c.Before != nil && view.CanReject:
		return i18n.T(ctx, "Agents see the old version for now. It can't be kept: calls would reach a server that may be compromised, or a tool that does more than before.")
	case !view.CanReject:
		return i18n.T(ctx, "If accepted, agents get the new version.")
	}
	return i18n.T(ctx, "Agents can't see the tool unless an admin accepts it.")
}

// Bounds of the question before a risky definition is accepted.
const (
	maxAskedTexts  = 8
	maxAskedAgents = 10
	maxAskedRunes  = 400
)

// acceptQuestion repeats what came and names the agents that it reaches.
func acceptQuestion(ctx context.Context, view templates.ChangePage, among manage.ToolChangePage) *templates.AskPage {
	ask := &templates.AskPage{
		Title: i18n.T(ctx, "Accept %s?", view.Tool), Text: i18n.T(ctx, "This change is high risk: agents follow the texts of their tools."),
		Yes: i18n.T(ctx, "Accept anyway"), Danger: true,
	}
	added := templates.AskList{Label: i18n.T(ctx, "Added by the server"), Quote: true}
	for _, t := range view.Texts {
		added.Items = append(added.Items, addedTexts(t)...)
	}
	for _, d := range view.Rows {
		if len(added.Items) < maxAskedTexts && d.Kind.Kind != "" {
			added.Items = append(added.Items, shell.ShortenText(strings.TrimSpace(d.Sentence+" "+d.After), maxAskedRunes))
		}
	}
	agents := templates.AskList{Label: i18n.T(ctx, "Reaches no agent yet.")}
	for _, a := range among.Reached[:min(len(among.Reached), maxAskedAgents)] {
		agents.Label = i18n.N(ctx, len(among.Reached), "Reaches %s agent", "Reaches %s agents")
		agents.Items = append(agents.Items, shell.ShortenText(a.Name, shell.MaxName))
	}
	if more := len(among.Reached) - maxAskedAgents; more > 0 {
		agents.Items = append(agents.Items, i18n.N(ctx, more, "%s more", "%s more"))
	}
	ask.Lists = []templates.AskList{added, agents}
	return ask
}

// addedTexts are the added passages of a text, with the kept word around them that makes them whole.
func addedTexts(t templates.TextChange) []string {
	var passages []string
	text := ""
	for _, part := range append(t.Parts, templates.TextPart{Op: string(toolchange.Kept)}) {
		switch {
		case part.Op == string(toolchange.Inserted):
			text += part.Text
		case part.Op == string(toolchange.Kept) && strings.TrimSpace(text) != "" && len(passages) < maxAskedTexts:
			passages = append(passages, shell.ShortenText(strings.TrimSpace(text), maxAskedRunes))
			text = ""
		}
	}
	return passages
}

// earlierVersion offers the definition before the shown change.
func earlierVersion(ctx context.Context, among manage.ToolChangePage, can templates.Permissions, now time.Time) *templates.EarlierVersion {
	if !can.Manage || among.Earlier == nil {
		return nil
	}
	earlier := &templates.EarlierVersion{Hash: among.Earlier.Hash.String(), Text: i18n.T(ctx, "Go back to the first version")}
	if at := among.Earlier.SeenAt; at != nil {
		earlier.Text = i18n.T(ctx, "Go back to the version of %s", versionTime(ctx, *at, now))
	}
	return earlier
}

// versionTime is the time of a version: of today without its day.
func versionTime(ctx context.Context, at, now time.Time) string {
	if at.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
		return at.UTC().Format("15:04") + " UTC"
	}
	return shell.NewWhen(ctx, at, now).Title
}

// readReturnList is the list that the person came from, by default that of waiting changes.
func readReturnList(raw string) string {
	if path := respond.OwnPath(raw, "/changes"); strings.HasPrefix(path, "/changes?") {
		return path
	}
	return "/changes"
}
