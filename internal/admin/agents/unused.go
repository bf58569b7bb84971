package agents

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/agentview"
	"patchbay/internal/i18n"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/web"
	"patchbay/web/templates"
)

// lookbackDays are the periods that the review offers, in days. The first is the default.
var lookbackDays = []int{30, 7, 90}

// unusedQuery is the query of the review.
type unusedQuery struct {
	days     int
	provider toolfmt.Format
}

func readUnusedQuery(r *http.Request) unusedQuery {
	q := unusedQuery{days: lookbackDays[0], provider: toolpages.ReadProvider(r.URL.Query().Get("provider"))}
	for _, days := range lookbackDays {
		if r.URL.Query().Get("days") == strconv.Itoa(days) {
			q.days = days
		}
	}
	return q
}

// agentUnused reviews the tools that an agent sees and does not call. With part=summary it sends the summary
// alone, for the Tools tab: reading a busy agent's calls takes longer than a page may.
func (h *Handler) agentUnused(w http.ResponseWriter, r *http.Request) error {
	q := readUnusedQuery(r)
	since := h.Now().Add(-time.Duration(q.days) * 24 * time.Hour)
	unused, err := h.Access.Unused(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"), since)
	if err != nil {
		return err
	}
	a := unused.View.Agent
	if r.URL.Query().Get("part") == "summary" {
		return h.Respond.Page(w, r, http.StatusOK, templates.UnusedSummaryPart(unusedSummary(r.Context(), unused, q, shell.AgentPath(a.Slug)+"/unused")))
	}
	frame := h.NewFrame(r, templates.NavAgents, shell.NewCrumb(i18n.T(r.Context(), "Agents"), "/agents"), shell.NewCrumb(a.Name, shell.AgentPath(a.Slug)+"/tools"), shell.NewCrumb(i18n.T(r.Context(), "Unused tools"), ""))
	frame.Title = i18n.T(r.Context(), "%s · Unused tools", a.Name)
	return h.Respond.Page(w, r, http.StatusOK, templates.Unused(templates.UnusedPage{
		Frame:     frame,
		Head:      agentHead(r.Context(), a, templates.AgentToolsTab),
		Summary:   unusedSummary(r.Context(), unused, q, ""),
		Filter:    templates.Form{Values: map[string]string{"days": strconv.Itoa(q.days), "provider": string(q.provider)}},
		Days:      lookbackOptions(r.Context()),
		Providers: toolpages.ProviderOptions(r.Context()),
		Groups:    unusedGroups(r.Context(), unused, q.provider),
		Often:     oftenCalledTools(r.Context(), unused, frame.Can, r.URL.RequestURI()),
		Action:    shell.AgentPath(a.Slug) + "/unused",
		Drop:      i18n.T(r.Context(), "Remove selected tools"),
		Young:     unusedYoung(r.Context(), unused.TooRecent, q.days),
		Estimate:  toolpages.EstimateText(r.Context(), q.provider),
	}))
}

func lookbackOptions(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, days := range lookbackDays {
		options = append(options, templates.Option{Value: strconv.Itoa(days), Label: i18n.N(ctx, days, "Unused for %s day", "Unused for %s days")})
	}
	return options
}

func unusedSummary(ctx context.Context, u agentview.UnusedTools, q unusedQuery, review string) templates.UnusedSummary {
	s := templates.UnusedSummary{Asset: web.Asset, Review: review}
	seen, unused, days := len(u.View.Tools), len(u.Tools), i18n.N(ctx, q.days, "%s day", "%s days")
	switch {
	case seen == 0:
		s.Title, s.Text = i18n.T(ctx, "No tools available"), i18n.T(ctx, "Nothing to remove.")
	case unused > 0:
		s.Warn, s.Title = true, i18n.N(ctx, seen, "%[2]s of %[1]s tool unused in %[3]s", "%[2]s of %[1]s tools unused in %[3]s", i18n.Number(ctx, unused), days)
		s.Text = i18n.N(ctx, sizeOfAll(u.Tools, q.provider), "Removing them saves about %[1]s token per request (%[2]s, estimated).", "Removing them saves about %[1]s tokens per request (%[2]s, estimated).", toolpages.ProviderName(q.provider))
	case u.TooRecent == seen:
		s.Title, s.Text = i18n.T(ctx, "Too early to tell"), i18n.T(ctx, "All were granted or listed less than %s ago.", days)
	default:
		s.Title, s.Text = i18n.T(ctx, "No unused tools"), i18n.N(ctx, seen-u.TooRecent, "The agent called its %[1]s tool in %[2]s.", "The agent called all %[1]s tools in %[2]s.", days)
		if young := unusedYoung(ctx, u.TooRecent, q.days); young != "" {
			s.Text += " " + young
		}
	}
	return s
}

func sizeOfAll(tools []*agentview.Tool, f toolfmt.Format) int {
	tokens := 0
	for _, t := range tools {
		tokens += t.Size(f).Tokens
	}
	return tokens
}

func unusedYoung(ctx context.Context, young, days int) string {
	if young == 0 {
		return ""
	}
	return i18n.T(ctx, "Too early to tell for %s: granted or listed less than %s ago.", i18n.N(ctx, young, "%s tool", "%s tools"), i18n.N(ctx, days, "%s day", "%s days"))
}

// unusedGroups groups the unused tools by connector. The tools come in that order.
func unusedGroups(ctx context.Context, u agentview.UnusedTools, f toolfmt.Format) []templates.UnusedGroup {
	var groups []templates.UnusedGroup
	for len(u.Tools) > 0 {
		connector, n := u.Tools[0].Connector, 1
		for n < len(u.Tools) && u.Tools[n].Connector == connector {
			n++
		}
		groups = append(groups, unusedGroup(ctx, u.View.Agent.Slug, u.Tools[:n], f))
		u.Tools = u.Tools[n:]
	}
	return groups
}

func unusedGroup(ctx context.Context, agent string, tools []*agentview.Tool, f toolfmt.Format) templates.UnusedGroup {
	connector := tools[0].Connector
	g := templates.UnusedGroup{
		Connector: connector.Connector.Name,
		Href:      grantPath(agent, connector.Connector.Slug),
		Count:     i18n.T(ctx, "%s of %s, about %s", i18n.Number(ctx, len(tools)), i18n.N(ctx, len(connector.Tools), "%s tool", "%s tools"), i18n.N(ctx, sizeOfAll(tools, f), "%s token", "%s tokens")),
	}
	if connector.Grant.AllTools {
		g.Note = i18n.T(ctx, "Access includes future tools. If you remove any, access is limited to the other current tools.")
	}
	for _, t := range tools {
		row := templates.UnusedTool{Value: connector.Connector.Slug + "/" + t.Name, Shown: shell.CleanText(t.Name), Size: i18n.N(ctx, t.Size(f).Tokens, "%s token", "%s tokens")}
		row.Title, row.Badges = titleAndHints(ctx, t)
		g.Tools = append(g.Tools, row)
	}
	return g
}
