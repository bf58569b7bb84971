package catalog

import (
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// catalogList lists the catalog, filtered by words, category and authentication.
func (h *Handler) catalogList(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	filter := catalog.Filter{
		Query:    strings.TrimSpace(query.Get("q")),
		Category: catalog.Category(query.Get("category")),
		Auth:     connectors.AuthType(query.Get("auth")),
	}
	offers, err := h.Registry.Offers(r.Context(), shell.Actor(r), filter)
	if err != nil {
		return err
	}
	page := templates.CatalogPage{
		Frame:      h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), shell.NewCrumb(i18n.T(r.Context(), "Catalog"), "")),
		Query:      filter.Query,
		Category:   string(filter.Category),
		Categories: categoryOptions(r.Context(), h.Registry.Categories()),
		Auth:       string(filter.Auth),
		Auths:      signInOptions(r.Context()),
		Filtered:   filter != catalog.Filter{},
		Count:      i18n.N(r.Context(), len(offers), "%s server", "%s servers"),
	}
	for _, o := range offers {
		page.Cards = append(page.Cards, catalogCard(r.Context(), o))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Catalog(page))
}
