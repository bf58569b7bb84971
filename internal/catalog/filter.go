package catalog

import (
	"slices"
	"strings"

	"patchbay/internal/connectors"
)

// Filter selects servers. The zero value selects all.
type Filter struct {
	Query    string // words that must all be in name, publisher, description, category or URL
	Category Category
	Auth     connectors.AuthType
}

// Entries returns the selected servers by name.
func (c *Catalog) Entries(f Filter) []Entry {
	words := strings.Fields(strings.ToLower(f.Query))
	return slices.DeleteFunc(slices.Clone(c.entries), func(e Entry) bool {
		return f.Category != "" && e.Category != f.Category || f.Auth != "" && e.Auth != f.Auth || !e.matchesWords(words)
	})
}

func (e Entry) matchesWords(words []string) bool {
	text := strings.ToLower(strings.Join([]string{e.Name, e.Publisher, e.Description, e.Category.String(), e.URL, e.Slug}, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// UsedCategories returns the categories with a server, in order.
func (c *Catalog) UsedCategories() []Category {
	return slices.DeleteFunc(slices.Clone(Categories), func(category Category) bool {
		return !slices.ContainsFunc(c.entries, func(e Entry) bool { return e.Category == category })
	})
}
