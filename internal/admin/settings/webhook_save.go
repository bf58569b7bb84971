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
	return h.Respond.Back(w, r, webhookPath(hook.ID), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Webhook saved.")})
}

func readWebhookChange(f shell.PostedForm) (webhooks.Change, error) {
	kinds, err := readKinds(f)
	if err != nil {
		return webhooks.Change{}, err
	}
	return webhooks.Change{
		Name: new(f.Text("name")), URL: new(f.Text("url")), Format: readChoice[connectors.WebhookFormat](f, "format"), Kinds: &kinds, Enabled: new(f.Checked("enabled")),
	}, nil
}
