package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// webhookList lists the webhooks.
func (h *Handler) webhookList(w http.ResponseWriter, r *http.Request) error {
	list, err := h.TenantStore(r).Webhooks().List(r.Context(), shell.ReadPage(r))
	if err != nil {
		return err
	}
	page := templates.WebhooksPage{
		Frame: h.NewFrame(r, templates.NavWebhooks, shell.NewCrumb(i18n.T(r.Context(), "Webhooks"), "")),
		Count: shell.FormatCount(r.Context(), len(list.Items), shell.NewPager(r, list.Next, len(list.Items)), "%s webhook", "%s webhooks"),
		Pager: shell.NewPager(r, list.Next, len(list.Items)),
	}
	for _, hook := range list.Items {
		page.Rows = append(page.Rows, webhookRow(r.Context(), hook, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Webhooks(page))
}
