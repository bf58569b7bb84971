package admin

import (
	"net/http"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// webhookList lists the webhooks, with the form for a new one.
func (h *Handler) webhookList(w http.ResponseWriter, r *http.Request) error {
	return h.webhooksPage(w, r, http.StatusOK, templates.Form{}, nil)
}

func (h *Handler) webhooksPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, chosen []string) error {
	list, err := h.tenantStore(r).Webhooks(r.Context(), readPage(r))
	if err != nil {
		return err
	}
	page := templates.WebhooksPage{
		Frame: h.newFrame(r, templates.NavWebhooks, newCrumb(i18n.T(r.Context(), "Webhooks"), "")),
		Count: formatCount(r.Context(), len(list.Items), newPager(r, list.Next), "%s webhook", "%s webhooks"),
		Form:  f,
		Kinds: kindChoices(r.Context(), chosen),
		Pager: newPager(r, list.Next),
	}
	for _, hook := range list.Items {
		page.Rows = append(page.Rows, webhookRow(r.Context(), hook, h.now()))
	}
	return h.respond.Page(w, r, status, templates.Webhooks(page))
}
