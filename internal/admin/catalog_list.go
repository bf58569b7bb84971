package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/words"
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
		Frame:      h.frame(r, templates.NavConnectors, crumb(words.T(r.Context(), "Connectors"), "/connectors"), crumb(words.T(r.Context(), "Catalog"), "")),
		Query:      filter.Query,
		Category:   string(filter.Category),
		Categories: shelfOptions(r.Context(), h.registry.Shelves()),
		Auth:       string(filter.Auth),
		Auths:      signInOptions(r.Context()),
		Filtered:   filter != catalog.Filter{},
		Count:      words.N(r.Context(), len(offers), "%s server", "%s servers"),
	}
	page.Frame.Listen = "" // nothing on this page changes by itself
	for _, o := range offers {
		page.Cards = append(page.Cards, catalogCard(r.Context(), o))
	}
	return h.respond.Page(w, r, http.StatusOK, templates.Catalog(page))
}
