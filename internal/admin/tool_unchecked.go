package admin

import (
	"context"
	"slices"

	"patchbay/internal/access"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// maxUncheckedFacts bounds the schema parts that a page names.
const maxUncheckedFacts = 5

var uncheckedNames = map[string]words.Key{
	access.UncheckedPattern:     "the regular expression is too large",
	access.UncheckedSyntax:      "the regular expression is not supported",
	access.UncheckedReference:   "the reference is not followed",
	access.UncheckedCycle:       "the schema refers to itself without end",
	access.UncheckedDialect:     "the schema's dialect is not supported",
	access.UncheckedKeyword:     "the keyword is not valid",
	access.UncheckedSize:        "the schema is too large",
	access.UncheckedCombination: "large or deeply nested arguments may be too much to check",
}

// uncheckedFacts name the parts of an input schema that are not validated, and the size limit.
func uncheckedFacts(ctx context.Context, all []access.Unchecked) []templates.Fact {
	var facts []templates.Fact
	for _, u := range all[:min(len(all), maxUncheckedFacts)] {
		text := words.T(ctx, uncheckedNames[u.Reason])
		if u.Place != "" {
			text = shortenText(u.Place, maxName) + ": " + text
		}
		facts = append(facts, templates.Fact{Label: words.T(ctx, "Not checked"), Value: text})
	}
	if len(all) > len(facts) {
		facts = append(facts, templates.Fact{Label: words.T(ctx, "Not checked"), Value: words.T(ctx, "more parts of the schema")})
	}
	if !slices.ContainsFunc(all, func(u access.Unchecked) bool { return u.Reason == access.UncheckedCombination }) {
		facts = append(facts, templates.Fact{Label: words.T(ctx, "Not checked"), Value: words.T(ctx, "arguments too large or nested too deeply to check in 50 ms")})
	}
	return facts
}
