package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// webhookCreate creates a webhook and shows its signing secret on the response page alone. A redirect would
// carry it through the session or the address.
func (h *Handler) webhookCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	hook, text, err := h.webhooks.Create(r.Context(), actor(r), connectors.Webhook{Name: f.text("name"), URL: f.text("url"), Kinds: noticeKinds(f)})
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.webhooksPage(w, r, respond.Status(problem.Kind), f.toForm(problem), f.values["kind"])
	}
	if err != nil {
		return err
	}
	return h.webhookPage(w, r, http.StatusOK, hook, webhookPageState{secret: &templates.NewAPIKey{Name: hook.Name, Token: text.Reveal()}})
}

func noticeKinds(f postedForm) []connectors.NoticeKind {
	kinds := make([]connectors.NoticeKind, len(f.values["kind"]))
	for i, text := range f.values["kind"] {
		kinds[i] = connectors.NoticeKind(text)
	}
	return kinds
}
