package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/webhooks"
)

func (h *Handler) webhookSave(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	name, url, kinds, enabled := f.Text("name"), f.Text("url"), noticeKinds(f), f.Checked("enabled")
	saved, err := h.Webhooks.Update(r.Context(), shell.Actor(r), hook.ID, webhooks.Change{Name: &name, URL: &url, Kinds: &kinds, Enabled: &enabled})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		view := f.ToForm(problem)
		return h.webhookPage(w, r, respond.Status(problem.Kind), hook, webhookPageState{form: &view, chosen: f.Values["kind"]})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, webhookPath(saved.ID), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Webhook saved.")})
}
