package tools

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// ToolFilter is the filter of a tool selector, from the query or the form.
type ToolFilter struct {
	words  string
	effect connectors.Effect // empty: any
}

// ReadToolFilter reads the filters of a list of tools from an address or a form.
func ReadToolFilter(q url.Values) ToolFilter {
	f := ToolFilter{words: strings.TrimSpace(q.Get("q")), effect: connectors.Effect(q.Get("effect"))}
	if !slices.Contains(connectors.Effects, f.effect) {
		f.effect = ""
	}
	return f
}

// IsFiltered reports whether any filter is set.
func (f ToolFilter) IsFiltered() bool { return f != ToolFilter{} }

// Matches reports whether a tool matches the filter.
func (f ToolFilter) Matches(t templates.GrantTool) bool {
	text := strings.ToLower(t.Shown + " " + t.Title + " " + t.About)
	return strings.Contains(text, strings.ToLower(f.words)) && (f.effect == "" || string(f.effect) == t.Effect)
}

// ToForm returns the filters as a form shows them.
func (f ToolFilter) ToForm() templates.Form {
	return templates.Form{Values: map[string]string{"q": f.words, "effect": string(f.effect)}}
}

// EffectOptions offers the effects that some of the tools have.
func EffectOptions(ctx context.Context, tools []templates.GrantTool) []templates.Option {
	counts := map[string]int{}
	for _, t := range tools {
		counts[t.Effect]++
	}
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "Any effect (%s)", i18n.Number(ctx, len(tools)))}}
	for _, e := range connectors.Effects {
		options = append(options, templates.Option{Value: string(e), Label: effectName(ctx, e) + " (" + i18n.Number(ctx, counts[string(e)]) + ")"})
	}
	return options
}

func effectName(ctx context.Context, e connectors.Effect) string {
	switch e {
	case connectors.EffectReadOnly:
		return i18n.T(ctx, "Read-only")
	case connectors.EffectWrites:
		return i18n.T(ctx, "Writes")
	case connectors.EffectDestructive:
		return i18n.T(ctx, "Destructive")
	default:
		return i18n.T(ctx, "Not stated")
	}
}

// StateOptions offers the states of tools.
func StateOptions(ctx context.Context) []templates.Option {
	names := map[connectors.ToolStateFilter]string{
		connectors.StandingEnabled: i18n.T(ctx, "Enabled"), connectors.StandingDisabled: i18n.T(ctx, "Disabled"), connectors.StandingChanged: i18n.T(ctx, "Changed"),
		connectors.StandingHeld: i18n.T(ctx, "Held"), connectors.StandingKept: i18n.T(ctx, "Earlier version kept"), connectors.StandingCurated: i18n.T(ctx, "Renamed or re-described"),
	}
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "Any state")}}
	for _, s := range connectors.ToolStandings {
		options = append(options, templates.Option{Value: string(s), Label: names[s]})
	}
	return options
}

// HintOptions offers the hints of tools.
func HintOptions(ctx context.Context) []templates.Option {
	names := map[connectors.Hint]string{
		connectors.HintReadOnly: i18n.T(ctx, "Read-only"), connectors.HintDestructive: i18n.T(ctx, "Destructive"),
		connectors.HintIdempotent: i18n.T(ctx, "Idempotent"), connectors.HintOpenWorld: i18n.T(ctx, "Open world"),
	}
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "Any annotation")}}
	for _, hint := range connectors.ToolHints {
		options = append(options, templates.Option{Value: string(hint), Label: names[hint]})
	}
	return options
}
