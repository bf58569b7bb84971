package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// webhookNew shows the form for a new webhook.
func (h *Handler) webhookNew(w http.ResponseWriter, r *http.Request) error {
	return h.newWebhookPage(w, r, http.StatusOK, templates.Form{}, nil)
}

func (h *Handler) newWebhookPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, chosen []string) error {
	return h.Respond.Page(w, r, status, templates.NewWebhook(templates.NewWebhookPage{
		Frame:   h.NewFrame(r, templates.NavWebhooks, shell.NewCrumb(i18n.T(r.Context(), "Webhooks"), "/webhooks"), shell.NewCrumb(i18n.T(r.Context(), "Add webhook"), "")),
		Form:    f,
		Choices: webhookChoices(r.Context(), chosen),
	}))
}

// webhookCreate creates a webhook and shows its signing secret on the response page alone, as a redirect would
// carry it through the session or the address. A chat verifies no signature, so its webhook shows none.
func (h *Handler) webhookCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	kinds, err := readKinds(f)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.newWebhookPage(w, r, respond.Status(problem.Kind), f.ToForm(problem), f.Values["kind"])
	}
	hook, text, err := h.Webhooks.Create(r.Context(), shell.Actor(r), connectors.Webhook{
		Name: f.Text("name"), URL: f.Text("url"), Format: connectors.WebhookFormat(f.Text("format")), Kinds: kinds,
	})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.newWebhookPage(w, r, respond.Status(problem.Kind), f.ToForm(problem), f.Values["kind"])
	}
	if err != nil {
		return err
	}
	if hook.Format != connectors.WebhookJSON {
		return h.Respond.Back(w, r, webhookPath(hook.ID), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Webhook added. Send a test.")})
	}
	return h.webhookPage(w, r, http.StatusOK, hook, webhookPageState{secret: &templates.NewAPIKey{Name: hook.Name, Token: text.Reveal()}})
}

// readKinds reads the chosen events; none: all.
func readKinds(f shell.PostedForm) ([]connectors.NoticeKind, error) {
	switch chosen := f.Values["kind"]; {
	case f.Text("events") == eventsAll:
		return nil, nil
	case f.Text("events") == eventsChosen && len(chosen) == 0:
		return nil, fault.InvalidFields(fault.Field{Location: "kinds", Message: "Select at least one event."})
	default:
		return noticeKinds(chosen), nil
	}
}

func noticeKinds(texts []string) []connectors.NoticeKind {
	kinds := make([]connectors.NoticeKind, len(texts))
	for i, text := range texts {
		kinds[i] = connectors.NoticeKind(text)
	}
	return kinds
}
