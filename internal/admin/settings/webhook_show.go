package settings

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

var deliveryColumns = []export.Column[connectors.Delivery]{
	{Name: "id", Of: func(d connectors.Delivery) any { return d.ID.String() }},
	{Name: "kind", Of: func(d connectors.Delivery) any { return d.Kind }},
	{Name: "state", Of: func(d connectors.Delivery) any { return d.State }},
	{Name: "tries", Of: func(d connectors.Delivery) any { return d.Tries }},
	{Name: "created_at", Of: func(d connectors.Delivery) any { return d.CreatedAt }},
	{Name: "tried_at", Of: func(d connectors.Delivery) any { return d.TriedAt }},
	{Name: "next_at", Of: func(d connectors.Delivery) any { return d.NextAt }},
	{Name: "status", Of: func(d connectors.Delivery) any { return d.Status }},
	{Name: "error", Of: func(d connectors.Delivery) any { return d.Error }},
	{Name: "duration_ms", Of: func(d connectors.Delivery) any { return shell.ToMilliseconds(d.Duration) }},
}

func (h *Handler) deliveryFile(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	columns := append([]export.Column[connectors.Delivery]{{Name: "webhook", Of: func(connectors.Delivery) any { return hook.Name }}}, deliveryColumns...)
	return shell.TableFile[connectors.Delivery]{Name: "deliveries", Columns: columns, List: func(ctx context.Context, p store.Page) (store.List[connectors.Delivery], error) {
		return h.TenantStore(r).Webhooks().Deliveries(ctx, hook.ID, p)
	}}.Serve(h.Shell, w, r)
}

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
	id, ok := shell.PathRef(r, "id").UUID()
	if !ok {
		return connectors.Webhook{}, fault.Errorf(fault.NotFound, "No such webhook.")
	}
	return h.TenantStore(r).Webhooks().Get(r.Context(), connectors.WebhookID{UUID: id})
}

// webhookPageState is the result of an action on the page.
type webhookPageState struct {
	form   *templates.Form // with its errors; nil: the stored settings
	chosen []string        // kinds, with form
	secret *templates.NewAPIKey
}

func (h *Handler) webhookPage(w http.ResponseWriter, r *http.Request, status int, hook connectors.Webhook, state webhookPageState) error {
	var list store.List[connectors.Delivery]
	var total int
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if total, err = tx.Lists().Deliveries(r.Context(), hook.ID); err != nil {
			return err
		}
		list, err = tx.Webhooks().Deliveries(r.Context(), hook.ID, store.Page{Limit: deliveryPageSize, Cursor: r.URL.Query().Get("cursor")})
		return err
	})
	if err != nil {
		return err
	}
	page := templates.WebhookPage{
		Frame:   h.NewFrame(r, templates.NavWebhooks, shell.NewCrumb(i18n.T(r.Context(), "Webhooks"), "/webhooks"), shell.NewCrumb(hook.Name, "")),
		Webhook: webhookRow(r.Context(), hook, h.Now()),
		Form:    webhookForm(hook),
		Enabled: hook.Enabled,
		Choices: webhookChoices(r.Context(), kindValues(hook.Kinds)),
		Signed:  hook.Format == connectors.WebhookJSON,
		Facts:   webhookFacts(r.Context(), hook, h.Now()),
		Secret:  state.secret,
		Pager:   shell.WithBoundedTotal(shell.NewPager(r, list.Next, len(list.Items)), total),
	}
	if r.Method != http.MethodGet && list.Next != "" { // a POST's path is not that of the page
		page.Pager.Next = webhookPath(hook.ID) + "?cursor=" + list.Next
	}
	if state.form != nil {
		page.Form, page.Choices = *state.form, webhookChoices(r.Context(), state.chosen)
	}
	for _, d := range list.Items {
		page.Deliveries = append(page.Deliveries, deliveryRow(r.Context(), d, hook, h.Now()))
	}
	return h.Respond.Page(w, r, status, templates.Webhook(page))
}

func webhookForm(hook connectors.Webhook) templates.Form {
	events := eventsAll
	if len(hook.Kinds) > 0 {
		events = eventsChosen
	}
	return templates.Form{Values: map[string]string{
		"name": hook.Name, "url": hook.URL, "format": string(hook.Format), "events": events,
	}}
}
