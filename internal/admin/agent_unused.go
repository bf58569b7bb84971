package admin

import (
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/web"
	"patchbay/web/templates"
)

// lookbacks are how many days the review of unused tools may look back, the usual one first.
var lookbacks = []int{30, 7, 90}

// unusedQuery is what the review looks at, as its address says.
type unusedQuery struct {
	days     int
	provider toolfmt.Format
}

func readUnusedQuery(r *http.Request) unusedQuery {
	q := unusedQuery{days: lookbacks[0], provider: readProvider(r.URL.Query().Get("provider"))}
	for _, days := range lookbacks {
		if r.URL.Query().Get("days") == strconv.Itoa(days) {
			q.days = days
		}
	}
	return q
}

// agentUnused reviews the tools that an agent sees and does not call. With part=summary it answers the summary alone, for the Tools tab:
// looking through the calls of a busy agent takes longer than a page may.
func (h *Handler) agentUnused(w http.ResponseWriter, r *http.Request) error {
	q := readUnusedQuery(r)
	since := h.now().Add(-time.Duration(q.days) * 24 * time.Hour)
	unused, err := h.access.Unused(r.Context(), actor(r).Tenant.ID, ref(r, "id"), since)
	if err != nil {
		return err
	}
	a := unused.View.Agent
	if r.URL.Query().Get("part") == "summary" {
		return h.respond.Page(w, r, http.StatusOK, templates.UnusedSummaryPart(unusedSummary(unused, q, agentPath(a.Slug)+"/unused")))
	}
	frame := h.frame(r, templates.NavAgents, crumb("Agents", "/agents"), crumb(a.Name, agentPath(a.Slug)+"/tools"), crumb("Unused tools", ""))
	frame.Title = a.Name + " · Unused tools"
	return h.respond.Page(w, r, http.StatusOK, templates.Unused(templates.UnusedPage{
		Frame:     frame,
		Head:      agentHead(a, templates.AgentToolsTab),
		Summary:   unusedSummary(unused, q, ""),
		Filter:    templates.Form{Values: map[string]string{"days": strconv.Itoa(q.days), "provider": string(q.provider)}},
		Days:      lookbackOptions(),
		Providers: providerOptions(),
		Groups:    unusedGroups(unused, q.provider),
		Action:    agentPath(a.Slug) + "/unused",
		Drop:      "Take the chosen tools away",
		Young:     unusedYoung(unused.Young, q.days),
		Estimate:  estimateOf(q.provider),
	}))
}

func lookbackOptions() []templates.Option {
	var options []templates.Option
	for _, days := range lookbacks {
		options = append(options, templates.Option{Value: strconv.Itoa(days), Label: "Not called in " + plural(days, "day")})
	}
	return options
}

func unusedSummary(u access.Unused, q unusedQuery, review string) templates.UnusedSummary {
	s := templates.UnusedSummary{Asset: web.Asset, Review: review}
	seen, unused, days := len(u.View.Tools), len(u.Tools), plural(q.days, "day")
	switch {
	case seen == 0:
		s.Title, s.Text = "The agent sees no tool", "There is nothing to leave out."
	case unused > 0:
		s.Warn, s.Title = true, number(unused)+" of "+plural(seen, "tool")+" were not called in "+days
		s.Text = "Without them each request has about " + plural(sizeOfAll(u.Tools, q.provider), "token") + " less (" + providerName(q.provider) + ", estimated)."
	case u.Young == seen:
		s.Title, s.Text = "Too early to tell which tools are unused", "All were granted, or listed by their servers, less than "+days+" ago."
	default:
		s.Title, s.Text = "No tool is unused", "Each that could be was called in "+days+"."
	}
	return s
}

func sizeOfAll(tools []*access.Tool, f toolfmt.Format) int {
	tokens := 0
	for _, t := range tools {
		tokens += t.Size(f).Tokens
	}
	return tokens
}

func unusedYoung(young, days int) string {
	if young == 0 {
		return ""
	}
	return "Of " + plural(young, "tool") + " it is too early to tell: granted, or listed by their servers, less than " + plural(days, "day") + " ago."
}

// unusedGroups are the unused tools by their connectors, which is how they are ordered already.
func unusedGroups(u access.Unused, f toolfmt.Format) []templates.UnusedGroup {
	var groups []templates.UnusedGroup
	for len(u.Tools) > 0 {
		reach, n := u.Tools[0].Reach, 1
		for n < len(u.Tools) && u.Tools[n].Reach == reach {
			n++
		}
		groups = append(groups, unusedGroup(u.View.Agent.Slug, u.Tools[:n], f))
		u.Tools = u.Tools[n:]
	}
	return groups
}

func unusedGroup(agent string, tools []*access.Tool, f toolfmt.Format) templates.UnusedGroup {
	reach := tools[0].Reach
	g := templates.UnusedGroup{
		Connector: reach.Connector.Name,
		Href:      grantPath(agent, reach.Connector.Slug),
		Count:     number(len(tools)) + " of " + plural(len(reach.Tools), "tool") + ", about " + plural(sizeOfAll(tools, f), "token"),
	}
	if reach.Grant.AllTools {
		g.Note = "All of its tools are granted, those of later syncs too. Without these the others are granted by name, and later ones are not."
	}
	for _, t := range tools {
		row := templates.UnusedTool{Value: reach.Connector.Slug + "/" + t.Name, Shown: clean(t.Name), Size: plural(t.Size(f).Tokens, "token")}
		row.Title, row.Badges = titleAndHints(t)
		g.Tools = append(g.Tools, row)
	}
	return g
}
