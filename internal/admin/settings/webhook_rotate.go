package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/web/templates"
)

// webhookRotate replaces the signing secret, and shows the new one on the response page.
func (h *Handler) webhookRotate(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	hook, text, err := h.Webhooks.RotateSecret(r.Context(), shell.Actor(r), hook.ID)
	if err != nil {
		return err
	}
	return h.webhookPage(w, r, http.StatusOK, hook, webhookPageState{secret: &templates.NewAPIKey{Name: hook.Name, Token: text.Reveal()}})
}
