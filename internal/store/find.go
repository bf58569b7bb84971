package store

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Bounds of [Lists.Find], which runs at each keystroke: results per kind, and words and characters of the
// query.
const (
	maxFoundPerKind = connectors.MaxFound + 1 // one more says that there are more
	maxQueryWords   = 6
	maxQueryLetters = 100
)

// Find finds connectors, agents and tools by words of their names, a few of each, in one statement. An empty
// query finds nothing. verb holds names of actions, of which the query may contain one: "sync linear".
func (t Lists) Find(ctx context.Context, question, verb string) ([]connectors.Found, error) {
	question = strings.TrimSpace(firstLetters(cleanText(question), maxQueryLetters))
	words := toPatterns(question)
	if len(words) == 0 {
		return nil, nil
	}
	if len(words) == 1 {
		verb = "" // it is in every connector
	}
	name := withoutVerb(question, verb)
	rows, err := t.q.FindByName(ctx, dbgen.FindByNameParams{
		TenantID: t.id, Words: words, Verb: verb, Prefix: prefixPattern(name), Word: "% " + prefixPattern(wordSeparators.Replace(name)), Inside: containsPattern(name), MaxRows: maxFoundPerKind,
	})
	if err != nil {
		return nil, err
	}
	found := make([]connectors.Found, len(rows))
	for i, r := range rows {
		found[i] = connectors.Found{Kind: connectors.FoundKind(r.Kind), Slug: r.Slug, Name: r.Name, Rank: int(r.Rank), OfSlug: r.OfSlug, OfName: r.OfName, URL: r.Url, IconHash: toHash(r.IconHash)}
	}
	return found, nil
}

// wordSeparators turns what stands between the words of a name into spaces, as the query does.
var wordSeparators = strings.NewReplacer("_", " ", "-", " ", ".", " ")

// withoutVerb returns what is left of "sync lin" if the first word is a prefix of the verb.
func withoutVerb(question, verb string) string {
	first, rest, several := strings.Cut(question, " ")
	if several && verb != "" && strings.HasPrefix(strings.ToLower(verb), strings.ToLower(first)) {
		return strings.TrimSpace(rest)
	}
	return question
}

// toPatterns returns an ilike pattern for each of the first words of q.
func toPatterns(q string) []string {
	var list []string
	for word := range strings.FieldsSeq(q) {
		if list = append(list, containsPattern(word)); len(list) == maxQueryWords {
			break
		}
	}
	return list
}

// firstLetters returns the first n characters of s.
func firstLetters(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
