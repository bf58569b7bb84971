package connectors

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/store"
)

var itemColumns = []export.Column[connectors.StoredItem]{
	{Name: "kind", Of: func(item connectors.StoredItem) any { return item.Kind }},
	{Name: "key", Of: func(item connectors.StoredItem) any { return item.Key }},
	{Name: "definition", Of: func(item connectors.StoredItem) any { return string(item.Raw) }},
	{Name: "first_seen_at", Of: func(item connectors.StoredItem) any { return item.FirstSeenAt }},
	{Name: "changed_at", Of: func(item connectors.StoredItem) any { return item.ChangedAt }},
}

func (h *Handler) promptFile(w http.ResponseWriter, r *http.Request) error {
	return h.itemFile(w, r, "prompts", connectors.ItemPrompt)
}

// resourceFile is the file of a connector's resources, followed by its resource templates.
func (h *Handler) resourceFile(w http.ResponseWriter, r *http.Request) error {
	return h.itemFile(w, r, "resources", connectors.ItemResource, connectors.ItemTemplate)
}

// itemFile is a file of one kind after the other.
func (h *Handler) itemFile(w http.ResponseWriter, r *http.Request, name string, kinds ...connectors.ItemKind) error {
	tenant := h.TenantStore(r)
	c, err := tenant.Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	f := store.ItemFilter{Connector: c.ID, Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	list := func(ctx context.Context, p store.Page) (store.List[connectors.StoredItem], error) {
		f.Kind, f.Page = kinds[0], p
		all, err := tenant.Connectors().ListItems(ctx, f)
		if err != nil || all.Next != "" || len(kinds) == 1 {
			return all, err
		}
		kinds = kinds[1:]
		p.Cursor, f.Kind = "", kinds[0]
		f.Page = p
		more, err := tenant.Connectors().ListItems(ctx, f)
		more.Items = append(all.Items, more.Items...)
		return more, err
	}
	return shell.TableFile[connectors.StoredItem]{Name: name, Columns: itemColumns, List: list}.Serve(h.Shell, w, r)
}
