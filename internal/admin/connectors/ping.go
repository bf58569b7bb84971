package connectors

import (
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// connectorPing asks a connector's server for a sign of life, and shows the result on the page with the button.
func (h *Handler) connectorPing(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	ref := shell.PathRef(r, "id")
	to := respond.OwnPath(f.Text("return_to"), respond.CameFrom(r, shell.ConnectorPath(string(ref))))
	shell.ClearWriteDeadline(w)
	report, err := h.Syncer.Ping(r.Context(), shell.Actor(r).Tenant.ID, new(shell.Actor(r).Event("connector.test", "")), ref, nil)
	if err != nil {
		return h.renderPingError(w, r, to, err)
	}
	if report.Error != nil {
		return h.renderPingError(w, r, to, report.Error)
	}
	return h.Respond.Back(w, r, to, respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Ping %d ms, connect %d ms.", report.Ping/time.Millisecond, report.Connect/time.Millisecond),
	})
}
