package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/store"
	"patchbay/web/templates"
)

// column is a sort key of a list. The first is the default.
type column struct {
	name       string
	descending bool // the first click sorts descending
}

// readOrder reads the sort parameter: sort=tools, or sort=-tools for descending.
func readOrder(query url.Values) store.SortOrder {
	name, down := strings.CutPrefix(query.Get("sort"), "-")
	if name == "" {
		return store.SortOrder{}
	}
	return store.SortOrder{By: name, Descending: down}
}

// newHeads links each column to the list sorted by it. The current column links to the reverse order.
func newHeads(r *http.Request, columns []column) templates.Heads {
	query := r.URL.Query()
	query.Del("cursor")
	order := readOrder(query)
	if !slices.ContainsFunc(columns, func(c column) bool { return c.name == order.By }) {
		order = store.SortOrder{By: columns[0].name}
	}
	all := templates.Heads{}
	for _, c := range columns {
		head, down := templates.Head{}, c.descending
		if c.name == order.By {
			head.Sort, down = "ascending", !order.Descending
			if order.Descending {
				head.Sort = "descending"
			}
		}
		query.Set("sort", c.name)
		if down {
			query.Set("sort", "-"+c.name)
		} else if c.name == columns[0].name {
			query.Del("sort")
		}
		head.Href = withQuery(r.URL.Path, query)
		all[c.name] = head
	}
	return all
}
