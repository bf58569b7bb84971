package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
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
	change, err := readWebhookChange(f)
	if err == nil {
		_, err = h.Webhooks.Update(r.Context(), shell.Actor(r), hook.ID, change)
	}
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		view := f.ToForm(problem)
		return h.webhookPage(w, r, respond.Status(problem.Kind), hook, webhookPageState{form: &view, chosen: f.Values["kind"]})
	}
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Webhook saved.")}
	if !f.Values.Has("name") {
		flash = shell.EnabledFlash(r.Context(), hook.Name, f.Checked("enabled"), webhookPath(hook.ID))
	}
	return h.Respond.Back(w, r, webhookPath(hook.ID), flash)
}

// readWebhookChange reads the settings, or what the control that enables sends.
func readWebhookChange(f shell.PostedForm) (webhooks.Change, error) {
	var change webhooks.Change
	if f.Values.Has("enabled") {
		change.Enabled = new(f.Checked("enabled"))
	}
	if change.Enabled != nil && !f.Values.Has("name") {
		return change, nil
	}
	kinds, err := readKinds(f)
	change.Name, change.URL, change.Format, change.Kinds = new(f.Text("name")), new(f.Text("url")), readChoice[connectors.WebhookFormat](f, "format"), &kinds
	return change, err
}
