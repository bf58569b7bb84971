package connectors

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// connectorNew shows the form for a new connector.
func (h *Handler) connectorNew(w http.ResponseWriter, r *http.Request) error {
	d := shell.Actor(r).Tenant.Defaults.Draft()
	query := r.URL.Query()
	if query.Get("kind") == "http" {
		d.Transport = connectors.TransportAPI
	}
	d.URL = query.Get("url")
	return h.connectorFormPage(w, r, http.StatusOK, draftForm(d), nil)
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
