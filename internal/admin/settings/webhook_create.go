package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// webhookCreate creates a webhook and shows its signing secret on the response page alone. A redirect would
// carry it through the session or the address.
func (h *Handler) webhookCreate(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	hook, text, err := h.Webhooks.Create(r.Context(), shell.Actor(r), connectors.Webhook{Name: f.Text("name"), URL: f.Text("url"), Kinds: noticeKinds(f)})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.webhooksPage(w, r, respond.Status(problem.Kind), f.ToForm(problem), f.Values["kind"])
	}
	if err != nil {
		return err
	}
	return h.webhookPage(w, r, http.StatusOK, hook, webhookPageState{secret: &templates.NewAPIKey{Name: hook.Name, Token: text.Reveal()}})
}

func noticeKinds(f shell.PostedForm) []connectors.NoticeKind {
	kinds := make([]connectors.NoticeKind, len(f.Values["kind"]))
	for i, text := range f.Values["kind"] {
		kinds[i] = connectors.NoticeKind(text)
	}
	return kinds
}
