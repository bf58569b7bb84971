package shell

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/store"
	"patchbay/web/templates"
)

// Column is a sort key of a list. The first is the default.
type Column struct {
	Name       string
	Descending bool // the first click sorts descending
}

// ReadOrder reads the sort parameter: sort=tools, or sort=-tools for descending.
func ReadOrder(query url.Values) store.SortOrder {
	name, down := strings.CutPrefix(query.Get("sort"), "-")
	if name == "" {
		return store.SortOrder{}
	}
	return store.SortOrder{By: name, Descending: down}
}

// NewHeads links each column to the list sorted by it. The current column links to the reverse order.
func NewHeads(r *http.Request, columns []Column) templates.Heads {
	query := FirstPage(r.URL.Query())
	order := ReadOrder(query)
	if !slices.ContainsFunc(columns, func(c Column) bool { return c.Name == order.By }) {
		order = store.SortOrder{By: columns[0].Name}
	}
	all := templates.Heads{}
	for _, c := range columns {
		head, down := templates.Head{}, c.Descending
		if c.Name == order.By {
			head.Sort, down = "ascending", !order.Descending
			if order.Descending {
				head.Sort = "descending"
			}
		}
		query.Set("sort", c.Name)
		if down {
			query.Set("sort", "-"+c.Name)
		} else if c.Name == columns[0].Name {
			query.Del("sort")
		}
		head.Href = WithQuery(r.URL.Path, query)
		all[c.Name] = head
	}
	return all
}
