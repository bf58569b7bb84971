package agents

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// inputTime is the format of an input of type datetime-local; seconds are optional.
const inputTime = "2006-01-02T15:04"

func formatInputTime(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(inputTime + ":05")
}

// readUntil reads when a grant ends: until_in, a duration from now, or else until, a time in UTC. An empty until is never. A form
// without until leaves the end as it was.
func readUntil(f shell.PostedForm, was *time.Time, now time.Time) (*time.Time, error) {
	if in := f.Text("until_in"); in != "" {
		duration, err := time.ParseDuration(in)
		if err != nil || duration <= 0 {
			return was, fault.InvalidFields(fault.Field{Location: "until_in", Message: "Choose one of the listed values."})
		}
		return new(now.Add(duration)), nil
	}
	text := f.Text("until")
	switch {
	case !f.Values.Has("until"):
		return was, nil
	case text == "":
		return nil, nil
	}
	for _, format := range []string{inputTime, inputTime + ":05"} {
		if at, err := time.Parse(format, text); err == nil {
			return &at, nil
		}
	}
	return was, fault.InvalidFields(fault.Field{Location: "until", Message: "Enter a date and time like 2027-01-31T18:00."})
}

// formatToolEnd is the value of a field tool_end: an end, or "never", and the tool. The tool is granted up to this end if the
// form also has it as a tool.
func formatToolEnd(tool string, end *time.Time) string {
	if end == nil {
		return "never " + tool
	}
	return end.UTC().Format(time.RFC3339) + " " + tool
}

func readToolEnds(f shell.PostedForm) (map[string]*time.Time, error) {
	ends := map[string]*time.Time{}
	for _, value := range f.Values["tool_end"] {
		text, tool, _ := strings.Cut(value, " ")
		if text == "never" {
			ends[tool] = nil
			continue
		}
		end, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, fault.Wrap(fault.Malformed, err, "Can't read this form.")
		}
		ends[tool] = &end
	}
	return ends, nil
}

// unlistedEnds are the ends of tools that the form omits because there are too many.
func unlistedEnds(g grantState) map[string]*time.Time {
	ends := map[string]*time.Time{}
	for tool, end := range g.grant.ToolEnds() {
		if len(unlistedNames(g, []string{tool})) > 0 {
			ends[tool] = end
		}
	}
	return ends
}

// untilOptions are common durations of access.
func untilOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: "", Label: i18n.T(ctx, "As entered above")},
		{Value: "1h", Label: i18n.N(ctx, 1, "In %s hour", "In %s hours")},
		{Value: "8h", Label: i18n.N(ctx, 8, "In %s hour", "In %s hours")},
		{Value: "24h", Label: i18n.N(ctx, 1, "In %s day", "In %s days")},
		{Value: "168h", Label: i18n.N(ctx, 7, "In %s day", "In %s days")},
		{Value: "720h", Label: i18n.N(ctx, 30, "In %s day", "In %s days")},
	}
}

// addToolEnd adds when the access to the tool ends or ended, if it has an end of its own.
func (g *grantState) addToolEnd(ctx context.Context, t *templates.GrantTool) {
	end, hasEnd := g.toolEnds[t.Name]
	if !hasEnd {
		return
	}
	if g.offersEnd(t.Name) {
		t.End = formatToolEnd(t.Name, end)
	}
	if text := shell.FormatEnd(ctx, end, g.now); text != "" {
		t.Badges = append(t.Badges, templates.Badge{Kind: templates.BadgeWarn, Text: text, Title: i18n.T(ctx, "This tool has its own end.")})
	}
}

// choosesTool reports whether the form ticks the tool.
func (g *grantState) choosesTool(tool string) bool {
	return !g.grant.AllTools && slices.Contains(g.grant.Tools, tool) || g.choosesEnd(tool)
}

// grantEndText says when the grant ends or ended; empty: never.
func grantEndText(ctx context.Context, g grantState) string {
	if !g.exists {
		return ""
	}
	return shell.FormatEnd(ctx, g.grant.Until(), g.now)
}

// grantedNames are the tools that a grant names, with those that have an end of their own.
func grantedNames(g connectors.Grant) []string {
	names := append([]string{}, g.Tools...)
	for tool := range g.ToolEnds() {
		names = append(names, tool)
	}
	return names
}

// reachText says how many tools were granted, and when that ends or ended.
func reachText(ctx context.Context, r store.Reach, available int, now time.Time) string {
	if r.Ended {
		return shell.FormatEnd(ctx, r.Until, now)
	}
	text := grantedTools(ctx, connectors.Grant{AllTools: r.AllTools, Tools: make([]string, r.Tools)}, available)
	if r.Until != nil && r.Until.After(now) {
		text += " · " + shell.FormatEnd(ctx, r.Until, now)
	}
	return text
}

// grantText is reachText for a grant.
func grantText(ctx context.Context, g connectors.Grant, available int, now time.Time) string {
	current := g.At(now)
	return reachText(ctx, store.Reach{AllTools: current.AllTools, Tools: len(current.Tools), Until: g.Until(), Ended: g.HasEnded(now)}, available, now)
}

// withToolEnds returns ends with those of more, which count.
func withToolEnds(ends, more map[string]*time.Time) map[string]*time.Time {
	all := make(map[string]*time.Time, len(ends)+len(more))
	maps.Copy(all, ends)
	maps.Copy(all, more)
	return all
}

// offersEnd reports whether the form grants the tool up to an end of its own, which has not come.
func (g *grantState) offersEnd(tool string) bool {
	end, hasEnd := g.toolEnds[tool]
	return hasEnd && (end == nil || end.After(g.now))
}

// setToolEnd chooses a tool up to its own end.
func (g *grantState) setToolEnd(tool string) {
	ends := withToolEnds(g.grant.ToolEnds(), nil)
	ends[tool] = g.toolEnds[tool]
	g.grant.Ends = &connectors.GrantEnds{Until: g.grant.Until(), Tools: ends}
}

// choosesEnd reports whether the tool is chosen up to an end of its own, which has not come.
func (g *grantState) choosesEnd(tool string) bool {
	_, chosen := g.grant.ToolEnds()[tool]
	return chosen && g.offersEnd(tool)
}
