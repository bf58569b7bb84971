package settings

import (
	"net/http"
	"patchbay/internal/connectors"
	"patchbay/internal/store"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// webhookList lists the webhooks.
func (h *Handler) webhookList(w http.ResponseWriter, r *http.Request) error {
	var list store.List[connectors.Webhook]
	total := 0
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if list, err = tx.Webhooks().List(r.Context(), shell.ReadPage(r)); err != nil {
			return err
		}
		total, err = tx.Lists().Webhooks(r.Context())
		return err
	})
	if err != nil {
		return err
	}
	pager := shell.WithTotal(shell.NewPager(r, list.Next, len(list.Items)), total)
	page := templates.WebhooksPage{
		Frame: h.NewFrame(r, templates.NavWebhooks, shell.NewCrumb(i18n.T(r.Context(), "Webhooks"), "")),
		Count: shell.FormatCount(r.Context(), len(list.Items), pager, "%s webhook", "%s webhooks"),
		Pager: pager,
	}
	for _, hook := range list.Items {
		page.Rows = append(page.Rows, webhookRow(r.Context(), hook, h.Now()))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.Webhooks(page))
}
