package tools

import (
	"context"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// maxUncheckedFacts bounds the schema parts that a page names.
const maxUncheckedFacts = 5

var uncheckedNames = map[string]i18n.Key{
	agentview.UncheckedPattern:     "the regular expression is too large",
	agentview.UncheckedSyntax:      "the regular expression is not supported",
	agentview.UncheckedReference:   "the reference is not followed",
	agentview.UncheckedCycle:       "the schema refers to itself without end",
	agentview.UncheckedDialect:     "the schema's dialect is not supported",
	agentview.UncheckedKeyword:     "the keyword is not valid",
	agentview.UncheckedSize:        "the schema is too large",
	agentview.UncheckedCombination: "large or deeply nested arguments may be too much to check",
}

// UncheckedFacts name the parts of an input schema that are not validated, and the size limit.
func UncheckedFacts(ctx context.Context, all []agentview.UncheckedPart) []templates.Fact {
	var facts []templates.Fact
	for _, u := range all[:min(len(all), maxUncheckedFacts)] {
		text := i18n.T(ctx, uncheckedNames[u.Reason])
		if u.Pointer != "" {
			text = shell.ShortenText(u.Pointer, shell.MaxName) + ": " + text
		}
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Not checked"), Value: text})
	}
	if len(all) > len(facts) {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Not checked"), Value: i18n.T(ctx, "more parts of the schema")})
	}
	if !slices.ContainsFunc(all, func(u agentview.UncheckedPart) bool { return u.Reason == agentview.UncheckedCombination }) {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Not checked"), Value: i18n.T(ctx, "arguments too large or nested too deeply to check in 50 ms")})
	}
	return facts
}
