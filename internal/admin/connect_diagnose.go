package admin

import (
	"net/http"

	"patchbay/web"
	"patchbay/web/templates"
)

// connectDiagnose looks for a connector's authorization server, and shows each step. Where a script asks, it answers with the
// panel alone.
func (h *Handler) connectDiagnose(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	waitLong(w)
	d, err := h.connect.Diagnose(r.Context(), actor(r), ref(r, "id"))
	if err != nil {
		return h.connectFailed(w, r, c, err)
	}
	shown := h.diagnosis(r.Context(), c, &d)
	if r.Header.Get("HX-Request") != "" {
		return h.respond.Page(w, r, http.StatusOK, templates.DiagnosisPanel(web.Asset, *shown))
	}
	return h.credentialsPage(w, r, c, credentialsNews{diagnosis: shown})
}
