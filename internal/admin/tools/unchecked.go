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
	agentview.UncheckedPattern:     "regular expression too large",
	agentview.UncheckedSyntax:      "unsupported regular expression",
	agentview.UncheckedReference:   "reference not followed",
	agentview.UncheckedCycle:       "endless self-reference",
	agentview.UncheckedDialect:     "unsupported schema dialect",
	agentview.UncheckedKeyword:     "invalid keyword",
	agentview.UncheckedSize:        "schema too large",
	agentview.UncheckedCombination: "possibly large or deeply nested arguments",
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
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Not checked"), Value: i18n.T(ctx, "other schema parts")})
	}
	if !slices.ContainsFunc(all, func(u agentview.UncheckedPart) bool { return u.Reason == agentview.UncheckedCombination }) {
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Not checked"), Value: i18n.T(ctx, "arguments that take over 50 ms to check")})
	}
	return facts
}
