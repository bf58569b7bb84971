package catalog

import (
	"slices"
	"strings"

	"patchbay/internal/connectors"
)

// Filter narrows the catalog down. The zero value lets everything through.
type Filter struct {
	Query    string // words that all stand in the name, the publisher, the description, the category or the URL
	Category Category
	Auth     connectors.AuthType
}

// Entries are the servers that a filter lets through, by name.
func (c *Catalog) Entries(f Filter) []Entry {
	words := strings.Fields(strings.ToLower(f.Query))
	return slices.DeleteFunc(slices.Clone(c.entries), func(e Entry) bool {
		return f.Category != "" && e.Category != f.Category || f.Auth != "" && e.Auth != f.Auth || !e.says(words)
	})
}

func (e Entry) says(words []string) bool {
	text := strings.ToLower(strings.Join([]string{e.Name, e.Publisher, e.Description, e.Category.String(), e.URL, e.Slug}, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// Shelves are the categories that have a server, in their order.
func (c *Catalog) Shelves() []Category {
	return slices.DeleteFunc(slices.Clone(Categories), func(shelf Category) bool {
		return !slices.ContainsFunc(c.entries, func(e Entry) bool { return e.Category == shelf })
	})
}
