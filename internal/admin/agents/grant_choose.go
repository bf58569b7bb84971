package agents

import (
	"context"
	"net/http"
	"slices"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
)

// grantChoose shows a grant's form again with the filtered tools chosen or not, and stores nothing. It serves
// browsers without script.
func (h *Handler) grantChoose(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	g, err := h.loadGrant(r)
	if err != nil {
		return err
	}
	g.replaceGrant(readGrant(f, g))
	g.filter = toolpages.ReadToolFilter(f.Values)
	g.chooseShown(r.Context(), f.Text("do"))
	return h.grantPage(w, r, http.StatusOK, g, f.ToForm(nil))
}

func (g *grantState) replaceGrant(grant connectors.Grant) {
	g.grant.AllTools, g.grant.Tools, g.grant.TrustedTools, g.grant.Approval = grant.AllTools, grant.Tools, grant.TrustedTools, grant.Approval
	g.grant.Prompts, g.grant.Resources = grant.Prompts, grant.Resources
}

// chooseShown chooses all tools that match the filter, or none of them.
func (g *grantState) chooseShown(ctx context.Context, do string) {
	var shown []string
	for _, t := range grantTools(ctx, *g) {
		if g.filter.Matches(t) {
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
