package agents

import (
	"context"
	"maps"
	"slices"
	"strconv"
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

// Values of the field "until", besides a duration and nothing for no end.
const (
	endAtTime  = "custom" // the time in UTC in the field "until_at"
	endAsAsked = "asked"
)

// defaultEnd is the end of a request, unless it chooses another.
const defaultEnd = "168h"

// offeredEnds are the common choices of an end, in hours.
var offeredEnds = []int{1, 8, 24, 7 * 24, 30 * 24, 90 * 24}

// endOptions offers the common ends, a time, and no end.
func endOptions(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, hours := range offeredEnds {
		options = append(options, templates.Option{Value: strconv.Itoa(hours) + "h", Label: i18n.T(ctx, "After %s", shell.FormatSpan(ctx, time.Duration(hours)*time.Hour))})
	}
	return append(options, templates.Option{Value: endAtTime, Label: i18n.T(ctx, "On a date…")}, templates.Option{Value: "", Label: i18n.T(ctx, "No end")})
}

// endValues are the fields of an end.
func endValues(end *time.Time) map[string]string {
	if end == nil {
		return map[string]string{"until": "", "until_at": ""}
	}
	return map[string]string{"until": endAtTime, "until_at": end.UTC().Format(inputTime + ":05")}
}

// readEnd reads the chosen end; nil: none. A form without one leaves the end as it was.
func readEnd(f shell.PostedForm, was *time.Time, now time.Time) (*time.Time, error) {
	chosen := f.Text("until")
	switch {
	case f.Text("until_in") != "": // a form of a server of the previous release
		return was, fault.InvalidFields(fault.Field{Location: "until", Message: "Choose one of the listed values."})
	case !f.Values.Has("until"):
		return was, nil
	case chosen == "":
		return nil, nil
	case chosen == endAtTime:
		for _, format := range []string{inputTime, inputTime + ":05"} {
			if at, err := time.Parse(format, f.Text("until_at")); err == nil {
				return &at, nil
			}
		}
		return was, fault.InvalidFields(fault.Field{Location: "until_at", Message: "Enter a date and time like 2027-01-31T18:00."})
	}
	hours, err := strconv.Atoi(strings.TrimSuffix(chosen, "h"))
	if err != nil || !slices.Contains(offeredEnds, hours) {
		return was, fault.InvalidFields(fault.Field{Location: "until", Message: "Choose one of the listed values."})
	}
	return new(now.Add(time.Duration(hours) * time.Hour)), nil
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
