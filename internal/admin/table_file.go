package admin

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/export"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// filePrefix stands before a page's path in the address of the file that its table becomes: /exports/calls?status=error&format=csv has the
// rows of /calls?status=error. Who may open the page may have the file, since both are mounted for the same role.
const filePrefix = "/exports"

// tableFile is a table that becomes a file.
type tableFile[T any] struct {
	name    string // of the file and in the audit log: "calls"
	columns []export.Column[T]
	list    func(context.Context, store.Page) (store.List[T], error)
	limit   int // rows of one part; 0: as many as the store gives
}

// answer sends the file. Until its first rows are read a failure is a page, as everywhere; after that the file itself says that it ends early.
func (t tableFile[T]) answer(h *Handler, w http.ResponseWriter, r *http.Request) error {
	format := export.Format(cmp.Or(r.URL.Query().Get("format"), string(export.CSV)))
	if !slices.Contains(export.Formats, format) {
		return fault.Errorf(fault.NotFound, "Tables are exported as csv or json.")
	}
	file, err := export.Table[T]{Name: t.name, Columns: t.columns, Part: t.part(r.Context(), readOrder(r.URL.Query())), Now: h.now}.Open()
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", format.ContentType())
	header.Set("Content-Disposition", `attachment; filename="`+file.Name(format)+`"`)
	header.Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	if err := h.registry.TakeTable(r.Context(), actor(r), t.name, string(format), filtersOf(r.URL.Query()).Encode()); err != nil {
		return err
	}
	if n, err := file.Write(w, format); err != nil {
		h.log.WarnContext(r.Context(), "table not exported to its end", "tenant_id", actor(r).Tenant.ID, "table", t.name, "rows", n, "error", err)
	}
	return nil
}

func (t tableFile[T]) part(ctx context.Context, order store.Order) func(cursor string) ([]T, string, error) {
	return func(cursor string) ([]T, string, error) {
		list, err := t.list(ctx, store.Page{Limit: cmp.Or(t.limit, store.MaxLimit), Cursor: cursor, Order: order})
		return list.Items, list.Next, err
	}
}

// nothingIn is the list of a filter that nothing passes.
func nothingIn[T any](context.Context, store.Page) (store.List[T], error) {
	return store.List[T]{}, nil
}

// filtersOf are the parameters of a page that choose its rows.
func filtersOf(query url.Values) url.Values {
	filters := url.Values{}
	for name, values := range query {
		if name != "cursor" && name != "format" && name != "size" && strings.Join(values, "") != "" {
			filters[name] = values
		}
	}
	return filters
}

// filed are the pages whose tables become files, as their routes are mounted.
var filed = []string{
	"/connectors", "/connectors/{id}/tools", "/connectors/{id}/runs", "/tools", "/agents", "/calls", "/tasks", "/approvals", "/changes",
	"/audit", "/webhooks/{id}", "/members", "/api-keys",
}

// files leads to the files of a page's table, where it has one.
func files(r *http.Request) (csv, json string) {
	if route := chi.RouteContext(r.Context()); route == nil || !slices.Contains(filed, route.RoutePattern()) {
		return "", ""
	}
	return filesOf(r.URL.EscapedPath(), r.URL.Query())
}

// filesOf leads to the files of the table at a path.
func filesOf(path string, query url.Values) (csv, json string) {
	filters := filtersOf(query)
	filters.Set("format", string(export.CSV))
	csv = withQuery(filePrefix+path, filters)
	filters.Set("format", string(export.JSON))
	return csv, withQuery(filePrefix+path, filters)
}

// firstPager leads from the first page of a list on, which an event stream renews.
func firstPager(path string, filters url.Values, size int, next string) templates.Pager {
	var p templates.Pager
	p.Sizes = sizeLinks(path, filters, size, next != "")
	p.CSV, p.JSON = filesOf(path, filters)
	if next != "" {
		filters.Set("cursor", next)
		p.Next = withQuery(path, filters)
	}
	return p
}
