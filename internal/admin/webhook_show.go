package admin

import (
	"net/http"
	"strconv"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// deliveriesPage is how many deliveries a page shows.
const deliveriesPage = 25

// webhookShow is about one webhook.
func (h *Handler) webhookShow(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.webhook(r)
	if err != nil {
		return err
	}
	return h.webhookPage(w, r, http.StatusOK, hook, webhookShown{})
}

// webhook is the one in the path.
func (h *Handler) webhook(r *http.Request) (connectors.Webhook, error) {
	id, ok := ref(r, "id").UUID()
	if !ok {
		return connectors.Webhook{}, fault.Errorf(fault.NotFound, "There is no such webhook.")
	}
	return h.tenant(r).Webhook(r.Context(), connectors.WebhookID{UUID: id})
}

// webhookShown is what a page shows besides the webhook as it is.
type webhookShown struct {
	form   *templates.Form // with what is wrong; nil: as it is
	chosen []string        // kinds, with form
	secret *templates.NewAPIKey
}

func (h *Handler) webhookPage(w http.ResponseWriter, r *http.Request, status int, hook connectors.Webhook, more webhookShown) error {
	list, err := h.tenant(r).Deliveries(r.Context(), hook.ID, store.Page{Limit: deliveriesPage, Cursor: r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	page := templates.WebhookPage{
		Frame:   h.frame(r, templates.NavWebhooks, crumb(words.T(r.Context(), "Webhooks"), "/webhooks"), crumb(hook.Name, "")),
		Webhook: webhookRow(r.Context(), hook, h.now()),
		Form:    webhookForm(hook),
		Kinds:   kindChoices(r.Context(), kindValues(hook.Kinds)),
		Facts:   webhookFacts(r.Context(), hook, h.now()),
		Secret:  more.secret,
		Pager:   pager(r, list.Next),
	}
	if r.Method != http.MethodGet && list.Next != "" { // the address of the form is none of the page
		page.Pager.Next = webhookPath(hook.ID) + "?cursor=" + list.Next
	}
	if more.form != nil {
		page.Form, page.Kinds = *more.form, kindChoices(r.Context(), more.chosen)
	}
	for _, d := range list.Items {
		page.Deliveries = append(page.Deliveries, deliveryRow(r.Context(), d, hook, h.now()))
	}
	return h.respond.Page(w, r, status, templates.Webhook(page))
}

func webhookForm(hook connectors.Webhook) templates.Form {
	return templates.Form{Values: map[string]string{"name": hook.Name, "url": hook.URL, "enabled": strconv.FormatBool(hook.Enabled)}}
}
