package store

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// What [Tenant.Find] answers at most of each kind, and how much of a question it reads: it is asked at each key that somebody presses.
const (
	foundOfAKind = 6
	askedWords   = 6
	askedLetters = 100
)

// Find finds connectors, agents and tools by words of their names, a few of each, in one statement. An empty question finds nothing. Of
// several words, one may be in verb, which is what the caller would do to a connector: "sync linear".
func (t *Tenant) Find(ctx context.Context, question, verb string) ([]connectors.Found, error) {
	question = strings.TrimSpace(firstLetters(clean(question), askedLetters))
	words := patterns(question)
	if len(words) == 0 {
		return nil, nil
	}
	if len(words) == 1 {
		verb = "" // it is in every connector
	}
	rows, err := t.q.Find(ctx, dbgen.FindParams{TenantID: t.id, Words: words, Verb: verb, Prefix: prefix(question), MaxRows: foundOfAKind})
	if err != nil {
		return nil, err
	}
	found := make([]connectors.Found, len(rows))
	for i, r := range rows {
		found[i] = connectors.Found{Kind: connectors.FoundKind(r.Kind), Slug: r.Slug, Name: r.Name, OfSlug: r.OfSlug, OfName: r.OfName}
	}
	return found, nil
}

// patterns are the ilike patterns of texts that contain each of the first words of q.
func patterns(q string) []string {
	var list []string
	for word := range strings.FieldsSeq(q) {
		if list = append(list, pattern(word)); len(list) == askedWords {
			break
		}
	}
	return list
}

// firstLetters are the first n letters of s.
func firstLetters(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
