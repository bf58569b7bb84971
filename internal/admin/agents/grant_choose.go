package agents

import (
	"context"
	"net/http"
	"slices"

	"patchbay/internal/admin/shell"
	toolpages "patchbay/internal/admin/tools"
	"patchbay/internal/connectors"
	"patchbay/internal/respond"
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
	grant, err := h.readGrant(f, g)
	g.replaceGrant(grant)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.grantPage(w, r, respond.Status(problem.Kind), g, f.ToForm(problem))
	}
	if err != nil {
		return err
	}
	g.filter = toolpages.ReadToolFilter(f.Values)
	g.chooseShown(r.Context(), f.Text("do"))
	return h.grantPage(w, r, http.StatusOK, g, f.ToForm(nil))
}

func (g *grantState) replaceGrant(grant connectors.Grant) {
	g.toolEnds = withToolEnds(g.toolEnds, grant.ToolEnds())
	g.grant.AllTools, g.grant.Tools, g.grant.TrustedTools, g.grant.Approval = grant.AllTools, grant.Tools, grant.TrustedTools, grant.Approval
	g.grant.Prompts, g.grant.Resources, g.grant.Ends = grant.Prompts, grant.Resources, grant.Ends
	g.posted = grant.Accounts
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
		g.grant.Tools = slices.Clone(g.grant.Tools)
		for _, name := range shown {
			if g.offersEnd(name) {
				g.setToolEnd(name)
			} else {
				g.grant.Tools = append(g.grant.Tools, name)
			}
		}
	case "drop":
		left := g.grant.Without(nil, shown)
		g.grant.Tools, g.grant.Ends = left.Tools, left.Ends
	}
}
