package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/webhooks"
)

func (h *Handler) webhookSave(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	f, err := readForm(r)
	if err != nil {
		return err
	}
	name, url, kinds, enabled := f.text("name"), f.text("url"), noticeKinds(f), f.checked("enabled")
	saved, err := h.webhooks.Update(r.Context(), actor(r), hook.ID, webhooks.Change{Name: &name, URL: &url, Kinds: &kinds, Enabled: &enabled})
	if problem, ok := asFormFault(r.Context(), err); ok {
		view := f.toForm(problem)
		return h.webhookPage(w, r, respond.Status(problem.Kind), hook, webhookPageState{form: &view, chosen: f.values["kind"]})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, webhookPath(saved.ID), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The webhook is saved.")})
}
