package home

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web"
	"patchbay/web/templates"
)

// ShowsFirstSteps reports whether a person gets the checklist of the first steps while it is not done.
func ShowsFirstSteps(a auth.Actor) bool {
	return a.Role.May(connectors.PermManage) && !a.Tenant.FirstStepsDismissed
}

// FirstStepsView shows the checklist.
func FirstStepsView(ctx context.Context, s connectors.FirstSteps) templates.FirstSteps {
	steps := []templates.FirstStep{
		{
			Title: i18n.T(ctx, "Connect a server"), Done: s.Connector != "",
			Text: i18n.T(ctx, "Any MCP server, or one from the catalog."),
			Actions: []templates.Link{
				{Text: i18n.T(ctx, "Enter a URL"), Href: "/connectors/new"}, {Text: i18n.T(ctx, "Choose from catalog"), Href: "/catalog"},
			},
		},
		{
			Title: i18n.T(ctx, "Create an agent"), Done: s.Agent != "",
			Text:    i18n.T(ctx, "Grant its access and create a token in the same form."),
			Actions: []templates.Link{{Text: i18n.T(ctx, "Set up an agent"), Href: "/start/agent"}},
		},
		{
			Title: i18n.T(ctx, "Give it access"), Done: s.Granted != "",
			Text:    i18n.T(ctx, "An agent sees only the tools that you grant."),
			Actions: []templates.Link{{Text: i18n.T(ctx, "Grant access"), Href: shell.AgentPath(s.Agent) + "/access"}},
		},
		{
			Title: i18n.T(ctx, "Connect a client"), Done: s.Used,
			Text:    i18n.T(ctx, "Paste the configuration into Claude, Cursor or VS Code. The first request completes this step."),
			Actions: []templates.Link{{Text: i18n.T(ctx, "Show configuration"), Href: shell.AgentPath(s.Granted) + "/connect"}},
		},
	}
	view := templates.FirstSteps{Asset: web.Asset, Steps: steps}
	done, next := 0, false
	for i := range steps {
		switch {
		case steps[i].Done:
			done++
		case !next:
			steps[i].Next, next = true, true
		}
	}
	view.Count = i18n.T(ctx, "%s of %s done", i18n.Number(ctx, done), i18n.Number(ctx, len(steps)))
	return view
}

// stepsDismiss hides the checklist for the tenant.
func (h *Handler) stepsDismiss(w http.ResponseWriter, r *http.Request) error {
	if err := h.TenantStore(r).Lists().DismissFirstSteps(r.Context()); err != nil {
		return err
	}
	return respond.See(w, r, "/")
}
