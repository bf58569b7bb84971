package shell

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

// FilePrefix is put before a page's path in the address of its table's file:
// /exports/calls?status=error&format=csv has the rows of /calls?status=error. The file needs the same role as
// the page, since both are mounted together.
const FilePrefix = "/exports"

// TableFile is a table to download.
type TableFile[T any] struct {
	Name    string // of the file and in the audit log: "calls"
	Columns []export.Column[T]
	List    func(context.Context, store.Page) (store.List[T], error)
	Limit   int // rows per read; 0: the store's maximum
}

// Serve sends the file. Until its first rows are read a failure is a page. After that the file itself says that
// it is incomplete.
func (t TableFile[T]) Serve(h *Shell, w http.ResponseWriter, r *http.Request) error {
	format := export.Format(cmp.Or(r.URL.Query().Get("format"), string(export.CSV)))
	if !slices.Contains(export.Formats, format) {
		return fault.Errorf(fault.NotFound, "Choose csv or json.")
	}
	file, err := export.Table[T]{Name: t.Name, Columns: t.Columns, Part: t.readPart(r.Context(), ReadOrder(r.URL.Query())), Now: h.Now}.Open()
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
	if err := h.registry.RecordTableExport(r.Context(), Actor(r), t.Name, string(format), rowFilters(r.URL.Query()).Encode()); err != nil {
		return err
	}
	if n, err := file.Write(w, format); err != nil {
		h.Log.WarnContext(r.Context(), "table export incomplete", "tenant_id", Actor(r).Tenant.ID, "table", t.Name, "rows", n, "error", err)
	}
	return nil
}

func (t TableFile[T]) readPart(ctx context.Context, order store.SortOrder) func(cursor string) ([]T, string, error) {
	return func(cursor string) ([]T, string, error) {
		list, err := t.List(ctx, store.Page{Limit: cmp.Or(t.Limit, store.MaxLimit), Cursor: cursor, Order: order})
		return list.Items, list.Next, err
	}
}

// EmptyList lists nothing.
func EmptyList[T any](context.Context, store.Page) (store.List[T], error) {
	return store.List[T]{}, nil
}

// rowFilters are the page's query parameters that select rows.
func rowFilters(query url.Values) url.Values {
	filters := url.Values{}
	for name, values := range FirstPage(query) {
		if name != "format" && name != "size" && strings.Join(values, "") != "" {
			filters[name] = values
		}
	}
	return filters
}

// exportPages are the pages that have a file, with their mounted routes.
var exportPages = []string{
	"/connectors", "/connectors/{id}/tools", "/connectors/{id}/prompts", "/connectors/{id}/resources", "/connectors/{id}/runs", "/connectors/{id}/credentials",
	"/tools", "/agents", "/agents/{id}/tools", "/agents/{id}/resources",
	"/calls", "/tasks", "/approvals", "/changes", "/audit", "/webhooks", "/webhooks/{id}", "/registries", "/members", "/api-keys",
}

// exportLinks lead to the files of the request's page, if it has them.
func exportLinks(r *http.Request) (csv, json string) {
	if route := chi.RouteContext(r.Context()); route == nil || !slices.Contains(exportPages, route.RoutePattern()) {
		return "", ""
	}
	return fileLinksFor(r.URL.EscapedPath(), r.URL.Query())
}

// FilesPager is the pager of a list that its page shows whole: it leads to the files alone.
func FilesPager(path string) (p templates.Pager) {
	p.CSV, p.JSON = fileLinksFor(path, url.Values{})
	return p
}

// fileLinksFor lead to the files of the table at a path.
func fileLinksFor(path string, query url.Values) (csv, json string) {
	filters := rowFilters(query)
	filters.Set("format", string(export.CSV))
	csv = WithQuery(FilePrefix+path, filters)
	filters.Set("format", string(export.JSON))
	return csv, WithQuery(FilePrefix+path, filters)
}
