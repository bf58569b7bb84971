package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// registryList lists the published registries.
func (h *Handler) registryList(w http.ResponseWriter, r *http.Request) error {
	var list store.List[connectors.Registry]
	total := 0
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if list, err = tx.Registries().List(r.Context(), shell.ReadPage(r)); err != nil {
			return err
		}
		total, err = tx.Registries().Count(r.Context())
		return err
	})
	if err != nil {
		return err
	}
	pager := shell.WithTotal(shell.NewPager(r, list.Next, len(list.Items)), total)
	page := templates.RegistriesPage{
		Frame: h.NewFrame(r, templates.NavRegistries, shell.NewCrumb(i18n.T(r.Context(), "Registries"), "")),
		Count: shell.FormatCount(r.Context(), len(list.Items), pager, "%s registry", "%s registries"),
		Pager: pager,
	}
	for _, registry := range list.Items {
		page.Rows = append(page.Rows, registryRow(r.Context(), registry, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Registries(page))
}

var registryColumns = []export.Column[connectors.Registry]{
	{Name: "id", Of: func(r connectors.Registry) any { return r.ID.String() }},
	{Name: "name", Of: func(r connectors.Registry) any { return r.Name }},
	{Name: "all_connectors", Of: func(r connectors.Registry) any { return r.EveryConnector }},
	{Name: "agents", Of: func(r connectors.Registry) any { return r.Agents }},
	{Name: "token_required", Of: func(r connectors.Registry) any { return r.TokenRequired }},
	{Name: "created_at", Of: func(r connectors.Registry) any { return r.CreatedAt }},
	{Name: "updated_at", Of: func(r connectors.Registry) any { return r.UpdatedAt }},
	{Name: "rotated_at", Of: func(r connectors.Registry) any { return r.RotatedAt }},
	{Name: "last_used_at", Of: func(r connectors.Registry) any { return r.LastUsedAt }},
}

func (h *Handler) registryFile(w http.ResponseWriter, r *http.Request) error {
	return shell.TableFile[connectors.Registry]{Name: "registries", Columns: registryColumns, List: h.TenantStore(r).Registries().List}.Serve(h.Shell, w, r)
}
