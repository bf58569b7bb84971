package admin

import (
	"net/http"

	"patchbay/web"
	"patchbay/web/templates"
)

// connectDiagnose runs the discovery of a connector's authorization server and shows each step. A script gets
// the panel alone.
func (h *Handler) connectDiagnose(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenantStore(r).Connector(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	clearWriteDeadline(w)
	d, err := h.connect.Diagnose(r.Context(), actor(r), pathRef(r, "id"))
	if err != nil {
		return h.renderConnectError(w, r, c, err)
	}
	diagnosis := h.newDiagnosis(r.Context(), c, &d)
	if r.Header.Get("HX-Request") != "" {
		return h.respond.Page(w, r, http.StatusOK, templates.DiagnosisPanel(web.Asset, *diagnosis))
	}
	return h.credentialsPage(w, r, credentialsPageState{diagnosis: diagnosis})
}
