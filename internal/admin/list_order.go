package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/store"
	"patchbay/web/templates"
)

// column is what a list can be sorted by. The first column of a list is the one that it is sorted by anyway.
type column struct {
	by   string
	down bool // the greatest first, where it is chosen: the newest, the most
}

// What the tables are sorted by. The names are store's.
var (
	connectorOrder = []column{{by: "name"}, {by: "status"}, {by: "tools", down: true}, {by: "synced", down: true}}
	agentOrder     = []column{{by: "name"}, {by: "state", down: true}, {by: "approval"}, {by: "added", down: true}}
	toolOrder      = []column{{by: "name"}, {by: "connector"}, {by: "changed", down: true}}
)

// readOrder is the order that an address asks for: sort=tools, or sort=-tools for the greatest first.
func readOrder(query url.Values) store.Order {
	by, down := strings.CutPrefix(query.Get("sort"), "-")
	if by == "" {
		return store.Order{}
	}
	return store.Order{By: by, Down: down}
}

// heads lead to the list sorted by each of its columns, and the other way round by the one that it is sorted by.
func heads(r *http.Request, columns []column) templates.Heads {
	query := r.URL.Query()
	query.Del("cursor")
	order := readOrder(query)
	if !slices.ContainsFunc(columns, func(c column) bool { return c.by == order.By }) {
		order = store.Order{By: columns[0].by}
	}
	all := templates.Heads{}
	for _, c := range columns {
		head, down := templates.Head{}, c.down
		if c.by == order.By {
			head.Sort, down = "ascending", !order.Down
			if order.Down {
				head.Sort = "descending"
			}
		}
		query.Set("sort", c.by)
		if down {
			query.Set("sort", "-"+c.by)
		} else if c.by == columns[0].by {
			query.Del("sort")
		}
		head.Href = withQuery(r.URL.Path, query)
		all[c.by] = head
	}
	return all
}
