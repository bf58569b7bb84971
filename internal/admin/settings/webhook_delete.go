package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

func (h *Handler) webhookDelete(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	if err := h.Webhooks.Delete(r.Context(), shell.Actor(r), hook.ID); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/webhooks", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Webhook deleted.")})
}
