package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// connectorNew shows the form for a new connector.
func (h *Handler) connectorNew(w http.ResponseWriter, r *http.Request) error {
	return h.connectorFormPage(w, r, http.StatusOK, draftForm(actor(r).Tenant.Defaults.Draft()), nil)
}

func (h *Handler) connectorFormPage(
	w http.ResponseWriter, r *http.Request, status int, f templates.Form, test *templates.TestResult,
) error {
	return h.respond.Page(w, r, status, templates.ConnectorForm(templates.ConnectorFormPage{
		Frame: h.newFrame(r, templates.NavConnectors, newCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), newCrumb(i18n.T(r.Context(), "Add connector"), "")),
		Form:  f,
		Test:  test,
	}))
}
