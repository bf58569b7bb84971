package accounts

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/web"
	"patchbay/web/templates"
)

// connectDiagnose runs the discovery of a connector's authorization server and shows each step. A script gets
// the panel alone.
func (h *Handler) connectDiagnose(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	shell.ClearWriteDeadline(w)
	d, err := h.Connect.Diagnose(r.Context(), shell.Actor(r), shell.PathRef(r, "id"))
	if err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	diagnosis := h.newDiagnosis(r.Context(), c, &d)
	if r.Header.Get("HX-Request") != "" {
		return h.Respond.Page(w, r, http.StatusOK, templates.DiagnosisPanel(web.Asset, *diagnosis))
	}
	return h.credentialsPage(w, r, credentialsPageState{diagnosis: diagnosis})
}
