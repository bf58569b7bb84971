package admin

import (
	"net/http"
	"strconv"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

const deliveryPageSize = 25

func (h *Handler) webhookShow(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	return h.webhookPage(w, r, http.StatusOK, hook, webhookPageState{})
}

// findWebhook reads the webhook in the path.
func (h *Handler) findWebhook(r *http.Request) (connectors.Webhook, error) {
	id, ok := pathRef(r, "id").UUID()
	if !ok {
		return connectors.Webhook{}, fault.Errorf(fault.NotFound, "There is no such webhook.")
	}
	return h.tenantStore(r).Webhook(r.Context(), connectors.WebhookID{UUID: id})
}

// webhookPageState is the result of an action on the page.
type webhookPageState struct {
	form   *templates.Form // with its errors; nil: the stored settings
	chosen []string        // kinds, with form
	secret *templates.NewAPIKey
}

func (h *Handler) webhookPage(w http.ResponseWriter, r *http.Request, status int, hook connectors.Webhook, state webhookPageState) error {
	list, err := h.tenantStore(r).Deliveries(r.Context(), hook.ID, store.Page{Limit: deliveryPageSize, Cursor: r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	page := templates.WebhookPage{
		Frame:   h.newFrame(r, templates.NavWebhooks, newCrumb(i18n.T(r.Context(), "Webhooks"), "/webhooks"), newCrumb(hook.Name, "")),
		Webhook: webhookRow(r.Context(), hook, h.now()),
		Form:    webhookForm(hook),
		Kinds:   kindChoices(r.Context(), kindValues(hook.Kinds)),
		Facts:   webhookFacts(r.Context(), hook, h.now()),
		Secret:  state.secret,
		Pager:   newPager(r, list.Next),
	}
	if r.Method != http.MethodGet && list.Next != "" { // a POST's path is not that of the page
		page.Pager.Next = webhookPath(hook.ID) + "?cursor=" + list.Next
	}
	if state.form != nil {
		page.Form, page.Kinds = *state.form, kindChoices(r.Context(), state.chosen)
	}
	for _, d := range list.Items {
		page.Deliveries = append(page.Deliveries, deliveryRow(r.Context(), d, hook, h.now()))
	}
	return h.respond.Page(w, r, status, templates.Webhook(page))
}

func webhookForm(hook connectors.Webhook) templates.Form {
	return templates.Form{Values: map[string]string{"name": hook.Name, "url": hook.URL, "enabled": strconv.FormatBool(hook.Enabled)}}
}
