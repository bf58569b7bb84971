package agents

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// grantTools are the connector's tools, and chosen ones that no longer exist.
func grantTools(ctx context.Context, g grantState) []templates.GrantTool {
	granted, trusted := toSet(grantedNames(g.grant)), toSet(g.grant.TrustedTools)
	var tools []templates.GrantTool
	for _, choice := range g.choices {
		t := g.newToolRow(ctx, choice)
		t.Granted, t.Trusted = g.choosesTool(choice.Name), trusted[choice.Name]
		g.addToolEnd(ctx, &t)
		tools = append(tools, t)
		delete(granted, choice.Name)
	}
	if len(g.choices) == store.MaxToolChoices {
		return tools
	}
	for _, name := range slices.Sorted(maps.Keys(granted)) {
		t := templates.GrantTool{
			Name: name, Shown: shell.ShortenText(name, shell.MaxName), Granted: g.choosesTool(name), Trusted: trusted[name], Effect: string(connectors.EffectUnsaid),
			Badges: []templates.Badge{{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "missing"), Title: i18n.T(ctx, "Not listed by the server.")}},
		}
		g.addToolEnd(ctx, &t)
		tools = append(tools, t)
	}
	return tools
}

func toSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

func (g grantState) newToolRow(ctx context.Context, c store.ToolChoice) templates.GrantTool {
	hints := connectors.DecodeTool(c.Raw)
	t := templates.GrantTool{
		Name:   c.Name,
		Shown:  shell.CleanText(c.Name),
		Title:  shell.ShortenText(c.Title, shell.MaxName),
		About:  shell.ShortenText(firstLine(c.Description), shell.MaxNote),
		Effect: string(hints.Hints.Effect()),
		Tokens: g.countTokens(c),
	}
	if t.Tokens > 0 {
		t.Size = i18n.N(ctx, t.Tokens, "%s token", "%s tokens")
	}
	if c.Raw != nil {
		t.Badges, t.Icon = shell.HintBadges(ctx, hints), toolpages.FirstIcon(hints.Icons)
	}
	if badge, ok := toolpages.ReviewBadge(ctx, c.Review); ok {
		t.Badges = append(t.Badges, badge)
	}
	if !c.Enabled {
		t.Badges = append(t.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "disabled"), Title: i18n.T(ctx, "Unavailable to agents.")})
	}
	if c.Removed {
		t.Badges = append(t.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: i18n.T(ctx, "removed"), Title: i18n.T(ctx, "No longer listed by the server.")})
	}
	if access, known := g.explanations[c.Name]; known {
		t.Now, t.WhyHref = accessState(ctx, access), agentToolPath(g.agent.Slug, access.Exposed)
	}
	return t
}

// countTokens estimates a tool's size in a request; 0 if its definition is too long to be served.
func (g grantState) countTokens(c store.ToolChoice) int {
	if reach := findReach(g.view, g.connector.ID); reach != nil {
		if t := reach.Tool(c.Name); t != nil && t.Listed() {
			return t.Size(toolfmt.OpenAI).Tokens
		}
	}
	if c.Raw == nil {
		return 0
	}
	return agentview.MeasureTool(connectors.ExposedNameWithin(g.agent.NameLimit, g.connector.Slug, c.Name), c.Raw, toolfmt.OpenAI).Tokens
}

// accessState says what the agent gets now.
func accessState(ctx context.Context, w agentview.ToolAccess) templates.State {
	state := whyState(ctx, w)
	switch {
	case w.State == agentview.HeldNotGranted:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "No access yet.")}
	case w.Callable && w.NeedsApproval:
		state.Text = i18n.T(ctx, "Calls need approval.")
	case w.Callable:
		state.Text = i18n.T(ctx, "Calls run without approval.")
	default:
		state.Text = i18n.TranslateKnown(ctx, w.Advice)
	}
	return state
}

// hideUsual removes what the agent gets of most tools from each of them, and returns it, so that the list shows where
// a tool differs.
func hideUsual(tools []templates.GrantTool) string {
	count, usual := map[string]int{}, ""
	for _, t := range tools {
		if t.Now.Text == "" {
			continue
		}
		if count[t.Now.Text]++; count[t.Now.Text] > count[usual] {
			usual = t.Now.Text
		}
	}
	if count[usual] < 2 {
		return ""
	}
	for i := range tools {
		if tools[i].Now.Text == usual {
			tools[i].Now = templates.State{}
		}
	}
	return usual
}

// grantCount says how many tools are chosen, and their size.
func grantCount(ctx context.Context, g connectors.Grant, tools []templates.GrantTool) string {
	chosen, tokens := 0, 0
	for _, t := range tools {
		if g.AllTools || t.Granted {
			chosen, tokens = chosen+1, tokens+t.Tokens
		}
	}
	how := i18n.T(ctx, "all of them")
	if !g.AllTools {
		how = i18n.T(ctx, "%s of %s selected", i18n.Number(ctx, chosen), i18n.Number(ctx, len(tools)))
	}
	return i18n.N(ctx, tokens, "%[2]s, about %[1]s token", "%[2]s, about %[1]s tokens", how)
}

// hideUnmatched hides the tools that do not match, and says how many are shown; empty if all are.
func hideUnmatched(ctx context.Context, f toolpages.ToolFilter, tools []templates.GrantTool) string {
	if !f.IsFiltered() {
		return ""
	}
	matching := 0
	for i := range tools {
		if tools[i].Hidden = !f.Matches(tools[i]); !tools[i].Hidden {
			matching++
		}
	}
	return i18n.T(ctx, "%s shown", i18n.Number(ctx, matching))
}

// grantLinks lead to the agent's enabled connectors, and to the current one.
func grantLinks(ctx context.Context, g grantState) []templates.GrantLink {
	var links []templates.GrantLink
	reachable := findReach(g.view, g.connector.ID) != nil
	for i, r := range g.view.Connectors {
		if i > 0 && r.Connector.ID == g.view.Connectors[i-1].Connector.ID { // with another account
			continue
		}
		links = append(links, templates.GrantLink{
			Connector: r.Connector.Name, Href: grantPath(g.agent.Slug, r.Connector.Slug), Tools: grantedTools(ctx, r.Grant, r.Connector.ToolCount),
			Approval: grantApproval(ctx, g.agent, r.Grant), Here: r.Connector.ID == g.connector.ID,
		})
	}
	if reachable {
		return links
	}
	link := templates.GrantLink{
		Connector: g.connector.Name, Href: grantPath(g.agent.Slug, g.connector.Slug), Tools: i18n.T(ctx, "Not granted"), Here: true,
	}
	if g.exists {
		link.Tools, link.Approval = grantText(ctx, g.grant, g.connector.ToolCount, g.now), grantApproval(ctx, g.agent, g.grant)
	}
	index, _ := slices.BinarySearchFunc(links, link, func(a, b templates.GrantLink) int { return cmp.Compare(a.Href, b.Href) })
	return slices.Insert(links, index, link)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
