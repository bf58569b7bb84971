package admin

import (
	"net/http"

	"patchbay/web/templates"
)

// webhookRotate makes a new secret, which is shown on the page that answers.
func (h *Handler) webhookRotate(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.webhook(r)
	if err != nil {
		return err
	}
	hook, text, err := h.webhooks.RotateSecret(r.Context(), actor(r), hook.ID)
	if err != nil {
		return err
	}
	return h.webhookPage(w, r, http.StatusOK, hook, webhookShown{secret: &templates.NewAPIKey{Name: hook.Name, Token: text.Reveal()}})
}
