package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// catalogList offers well-known servers, filtered by words, category and way to sign in.
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
		Frame:      h.frame(r, templates.NavConnectors, crumb("Connectors", "/connectors"), crumb("Catalog", "")),
		Query:      filter.Query,
		Category:   string(filter.Category),
		Categories: shelfOptions(h.registry.Shelves()),
		Auth:       string(filter.Auth),
		Auths:      signInOptions(),
		Filtered:   filter != catalog.Filter{},
		Count:      plural(len(offers), "server"),
	}
	page.Frame.Listen = "" // nothing on this page changes by itself
	for _, o := range offers {
		page.Cards = append(page.Cards, catalogCard(o))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Catalog(page))
}
