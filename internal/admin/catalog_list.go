package admin

import (
	"net/http"
	"strings"

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
	offers, err := h.registry.Offers(r.Context(), actor(r), filter)
	if err != nil {
		return err
	}
	page := templates.CatalogPage{
		Frame:      h.newFrame(r, templates.NavConnectors, newCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), newCrumb(i18n.T(r.Context(), "Catalog"), "")),
		Query:      filter.Query,
		Category:   string(filter.Category),
		Categories: categoryOptions(r.Context(), h.registry.Categories()),
		Auth:       string(filter.Auth),
		Auths:      signInOptions(r.Context()),
		Filtered:   filter != catalog.Filter{},
		Count:      i18n.N(r.Context(), len(offers), "%s server", "%s servers"),
	}
	page.Frame.Listen = "" // the page has no live content
	for _, o := range offers {
		page.Cards = append(page.Cards, catalogCard(r.Context(), o))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Catalog(page))
}
