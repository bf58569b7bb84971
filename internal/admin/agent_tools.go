package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// seenOnPage is how many of the tools that an agent sees a page lists.
const seenOnPage = 100

// agentTools lists what an agent sees, under the names that it sees.
func (h *Handler) agentTools(w http.ResponseWriter, r *http.Request) error {
	view, err := h.access.Fresh(r.Context(), actor(r).Tenant.ID, ref(r, "id"))
	if err != nil {
		return err
	}
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor")) // nonsense is the beginning
	seen := named(view.Tools, query)
	from = min(max(0, from), len(seen))
	rows, next := seen[from:], ""
	if len(rows) > seenOnPage {
		rows, next = rows[:seenOnPage], strconv.Itoa(from+seenOnPage)
	}
	page := templates.AgentToolsPage{
		Frame: h.agentFrame(r, view.Agent, "Tools"),
		Head:  agentHead(view.Agent, templates.AgentToolsTab),
		Query: query,
		Count: plural(len(seen), "tool"),
		Pager: pager(r, next),
	}
	for _, t := range rows {
		page.Rows = append(page.Rows, h.agentToolRow(view.Agent, t))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.AgentTools(page))
}

// named are the tools whose names hold the words.
func named(tools []*access.Tool, words string) []*access.Tool {
	if words == "" {
		return tools
	}
	var found []*access.Tool
	for _, t := range tools {
		if strings.Contains(strings.ToLower(t.Exposed), strings.ToLower(words)) {
			found = append(found, t)
		}
	}
	return found
}

func (h *Handler) agentToolRow(a connectors.Agent, t *access.Tool) templates.AgentToolRow {
	c := t.Reach.Connector
	d := connectors.DecodeTool(t.Raw)
	return templates.AgentToolRow{
		Exposed:       clean(t.Exposed),
		Title:         shorten(d.DisplayTitle(), maxName),
		Href:          agentToolPath(a.Slug, t.Exposed),
		Connector:     c.Name,
		ConnectorHref: grantPath(a.Slug, c.Slug),
		State:         h.seenState(t),
		Badges:        hintBadges(d),
	}
}

func agentToolPath(agent, exposed string) string {
	return agentPath(agent) + "/tools/" + url.PathEscape(exposed)
}

// seenState says what comes of a call.
func (h *Handler) seenState(t *access.Tool) templates.State {
	switch {
	case t.Held != "":
		return templates.State{Kind: templates.StateBad, Text: heldName(t.Held)}
	case t.AsksAt(h.now()):
		return templates.State{Kind: templates.StateWarn, Text: "Asks a person"}
	case t.Asks:
		return templates.State{Kind: templates.StateOK, Text: fmt.Sprintf("Allowed %s", relative(t.Reach.Allowances[t.Name], h.now()))}
	default:
		return templates.State{Kind: templates.StateOK, Text: "Callable"}
	}
}

// heldName is why a tool is not called, in a word or two.
func heldName(code string) string {
	switch code {
	case access.HeldReview:
		return "Held"
	case access.HeldNew:
		return "New, not accepted"
	case access.HeldRejected:
		return "Rejected"
	case access.HeldDisabled:
		return "Disabled"
	case access.HeldRemoved:
		return "Removed"
	case access.HeldNotGranted:
		return "Not granted"
	default:
		return code
	}
}
