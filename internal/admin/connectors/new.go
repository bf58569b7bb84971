package connectors

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// connectorNew shows the form for a new connector.
func (h *Handler) connectorNew(w http.ResponseWriter, r *http.Request) error {
	return h.connectorFormPage(w, r, http.StatusOK, draftForm(shell.Actor(r).Tenant.Defaults.Draft()), nil)
}

func (h *Handler) connectorFormPage(
	w http.ResponseWriter, r *http.Request, status int, f templates.Form, test *templates.TestResult,
) error {
	return h.Respond.Page(w, r, status, templates.ConnectorForm(templates.ConnectorFormPage{
		Frame: h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), shell.NewCrumb(i18n.T(r.Context(), "Add connector"), "")),
		Form:  f,
		Test:  test,

		Durations: durationChoices(r.Context(), f),
	}))
}
