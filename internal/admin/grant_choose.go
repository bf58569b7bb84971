package admin

import (
	"context"
	"net/http"
	"slices"

	"patchbay/internal/connectors"
)

// grantChoose shows the form of a grant again, with the tools that its filter shows chosen or left out, and stores nothing. It is for
// browsers without script; with it the page does the same by itself.
func (h *Handler) grantChoose(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	g, err := h.granting(r)
	if err != nil {
		return err
	}
	g.take(f.grant(g))
	g.filter = readToolFilter(f.values)
	g.choose(r.Context(), f.text("do"))
	return h.grantPage(w, r, http.StatusOK, g, f.again(nil))
}

// take puts what a form says in the place of what is stored.
func (g *granting) take(wanted connectors.Grant) {
	g.grant.AllTools, g.grant.Tools, g.grant.TrustedTools, g.grant.Approval = wanted.AllTools, wanted.Tools, wanted.TrustedTools, wanted.Approval
}

// choose ticks all tools that the filter shows, or none of them.
func (g *granting) choose(ctx context.Context, do string) {
	var shown []string
	for _, t := range grantTools(ctx, *g) {
		if g.filter.shows(t) {
			shown = append(shown, t.Name)
		}
	}
	switch do {
	case "choose":
		g.grant.Tools = append(slices.Clone(g.grant.Tools), shown...)
	case "drop":
		g.grant.Tools = g.grant.Without(nil, shown).Tools
	}
}
