package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// webhookList lists the webhooks, with the form for a new one.
func (h *Handler) webhookList(w http.ResponseWriter, r *http.Request) error {
	return h.webhooksPage(w, r, http.StatusOK, templates.Form{}, nil)
}

func (h *Handler) webhooksPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, chosen []string) error {
	list, err := h.TenantStore(r).Webhooks().List(r.Context(), shell.ReadPage(r))
	if err != nil {
		return err
	}
	page := templates.WebhooksPage{
		Frame: h.NewFrame(r, templates.NavWebhooks, shell.NewCrumb(i18n.T(r.Context(), "Webhooks"), "")),
		Count: shell.FormatCount(r.Context(), len(list.Items), shell.NewPager(r, list.Next), "%s webhook", "%s webhooks"),
		Form:  f,
		Kinds: kindChoices(r.Context(), chosen),
		Pager: shell.NewPager(r, list.Next),
	}
	for _, hook := range list.Items {
		page.Rows = append(page.Rows, webhookRow(r.Context(), hook, h.Now()))
	}
	return h.Respond.Page(w, r, status, templates.Webhooks(page))
}
