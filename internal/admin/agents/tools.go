package agents

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/web"
	"patchbay/web/templates"
)

// visibleToolsPageSize is the number of tools on a page.
const visibleToolsPageSize = 100

// agentTools lists the tools that an agent sees, under the names it sees, with their size in a model's request.
func (h *Handler) agentTools(w http.ResponseWriter, r *http.Request) error {
	view, err := h.Access.LoadUncached(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	q := readVisibleToolQuery(r.URL.Query())
	start, _ := strconv.Atoi(r.URL.Query().Get("cursor")) // an invalid cursor is the beginning
	visible := q.selectTools(view.Tools)
	start = min(max(0, start), len(visible))
	rows, next := visible[start:], ""
	if len(rows) > visibleToolsPageSize {
		rows, next = rows[:visibleToolsPageSize], strconv.Itoa(start+visibleToolsPageSize)
	}
	page := templates.AgentToolsPage{
		Frame:     h.agentFrame(r, view.Agent, i18n.T(r.Context(), "Tools")),
		Head:      agentHead(r.Context(), view.Agent, templates.AgentToolsTab),
		Filter:    templates.Form{Values: map[string]string{"q": q.words, "provider": string(q.provider), "sort": q.sort}},
		Providers: toolpages.ProviderOptions(r.Context()),
		Sorts:     []templates.Option{{Value: "", Label: i18n.T(r.Context(), "By connector")}, {Value: bySize, Label: i18n.T(r.Context(), "Largest first")}},
		Count:     i18n.N(r.Context(), len(visible), "%s tool", "%s tools"),
		Pager:     shell.WithTotal(shell.NewPager(r, next, len(rows)), len(visible)),
	}
	if len(view.Tools) > 0 {
		href := page.Head.Href
		page.Stats, page.JSON, page.Estimate = sizeStats(r.Context(), view, href), definitionLinks(view.Agent.Slug), toolpages.EstimateText(r.Context(), q.provider)
		if page.List, err = h.toolListPanel(r, view, q, page.Frame.Can); err != nil {
			return err
		}
		page.Unused = &templates.UnusedSummary{
			Asset: web.Asset, Title: i18n.T(r.Context(), "Unused tools"), Text: i18n.T(r.Context(), "They're still sent with every request."),
			Review: href + "/unused", Later: href + "/unused?part=summary&provider=" + string(q.provider),
		}
	}
	for _, t := range rows {
		row := h.agentToolRow(r.Context(), view.Agent, t, q.provider)
		row.Pin = pinFormFor(view.Agent, t, page.Frame.Can, r.URL.RequestURI())
		page.Rows = append(page.Rows, row)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.AgentTools(page))
}

// visibleToolQuery is the page's query: filter, provider and order.
type visibleToolQuery struct {
	words    string
	provider toolfmt.Format
	sort     string
	question string // to try the search with
}

const bySize = "size"

func readVisibleToolQuery(q url.Values) visibleToolQuery {
	s := visibleToolQuery{words: strings.TrimSpace(q.Get("q")), provider: toolpages.ReadProvider(q.Get("provider"))}
	s.question = strings.TrimSpace(q.Get("find"))
	if q.Get("sort") == bySize {
		s.sort = bySize
	}
	return s
}

// selectTools returns the tools that match the query, in its order.
func (q visibleToolQuery) selectTools(tools []*agentview.Tool) []*agentview.Tool {
	found := filterByName(tools, q.words)
	if q.sort == bySize {
		found = slices.Clone(found)
		slices.SortStableFunc(found, func(a, b *agentview.Tool) int { return b.Size(q.provider).Tokens - a.Size(q.provider).Tokens })
	}
	return found
}

// sizeStats shows the size of the agent's tools for each provider, in tokens.
func sizeStats(ctx context.Context, view *agentview.View, href string) []templates.Stat {
	stats := []templates.Stat{{Label: i18n.T(ctx, "Tools available"), Value: i18n.Number(ctx, len(view.Tools))}}
	for _, f := range toolpages.EstimateFormats {
		stats = append(stats, templates.Stat{
			Label: i18n.T(ctx, "Context size, %s", toolpages.ProviderName(f)), Value: i18n.N(ctx, view.Size(f).Tokens, "≈ %s token", "≈ %s tokens"), Href: href + "/tools?provider=" + string(f),
		})
	}
	return stats
}

// definitionLinks lead to the definitions in each provider's format.
func definitionLinks(agent string) []templates.Link {
	var links []templates.Link
	for _, f := range append(slices.Clone(toolpages.EstimateFormats), toolfmt.MCP) {
		links = append(links, templates.Link{Text: toolpages.ProviderName(f), Href: "/api/v1" + shell.AgentPath(agent) + "/tools?format=" + string(f)})
	}
	return links
}

// filterByName returns the tools with all words in their names.
func filterByName(tools []*agentview.Tool, words string) []*agentview.Tool {
	if words == "" {
		return tools
	}
	var found []*agentview.Tool
	for _, t := range tools {
		if strings.Contains(strings.ToLower(t.Exposed), strings.ToLower(words)) {
			found = append(found, t)
		}
	}
	return found
}

// titleAndHints returns a tool's title and its server's annotations.
func titleAndHints(ctx context.Context, t *agentview.Tool) (string, []templates.Badge) {
	d := connectors.DecodeTool(t.Raw)
	return shell.ShortenText(d.DisplayTitle(), shell.MaxName), shell.HintBadges(ctx, d)
}

func (h *Handler) agentToolRow(ctx context.Context, a connectors.Agent, t *agentview.Tool, f toolfmt.Format) templates.AgentToolRow {
	c := t.Connector.Connector
	title, hints := titleAndHints(ctx, t)
	if t.Pinned {
		hints = append(hints, templates.Badge{Text: i18n.T(ctx, "Pinned")})
	}
	return templates.AgentToolRow{
		Exposed:       shell.CleanText(t.Exposed),
		Title:         title,
		Href:          agentToolPath(a.Slug, t.Exposed),
		Connector:     c.Name,
		ConnectorHref: grantPath(a.Slug, c.Slug),
		State:         h.callableState(ctx, t),
		Tokens:        i18n.Number(ctx, t.Size(f).Tokens),
		Badges:        hints,
	}
}

func agentToolPath(agent, exposed string) string {
	return shell.AgentPath(agent) + "/tools/" + url.PathEscape(exposed)
}

// callableState says what a call would do.
func (h *Handler) callableState(ctx context.Context, t *agentview.Tool) templates.State {
	switch {
	case t.BlockedBy != "":
		return templates.State{Kind: templates.StateBad, Text: blockedReason(ctx, t.BlockedBy)}
	case t.NeedsApprovalAt(h.Now()):
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Needs approval")}
	case t.NeedsApproval:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Approved · expires %s", shell.FormatRelative(ctx, t.Connector.Allowances[t.Name], h.Now()))}
	default:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Callable")}
	}
}

// blockedReason says in a word or two why a tool cannot be called.
func blockedReason(ctx context.Context, code string) string {
	switch code {
	case agentview.HeldReview:
		return i18n.T(ctx, "Held")
	case agentview.BlockedNew:
		return i18n.T(ctx, "New, not accepted")
	case agentview.HeldRejected:
		return i18n.T(ctx, "Rejected")
	case agentview.BlockedDisabled:
		return i18n.T(ctx, "Disabled")
	case agentview.BlockedRemoved:
		return i18n.T(ctx, "Removed")
	case agentview.HeldNotGranted:
		return i18n.T(ctx, "Not granted")
	case agentview.BlockedMalformed:
		return i18n.T(ctx, "Malformed")
	case agentview.StateTasksMissing:
		return i18n.T(ctx, "Tasks not supported")
	default:
		return code
	}
}
