package settings

import (
	"net/http"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
)

// webhookColumns have the host of a webhook's address alone, because the rest may be a secret.
var webhookColumns = []export.Column[connectors.Webhook]{
	{Name: "id", Of: func(w connectors.Webhook) any { return w.ID.String() }},
	{Name: "name", Of: func(w connectors.Webhook) any { return w.Name }},
	{Name: "host", Of: func(w connectors.Webhook) any { return webhookHost(w) }},
	{Name: "format", Of: func(w connectors.Webhook) any { return w.Format }},
	{Name: "state", Of: func(w connectors.Webhook) any { return w.State() }},
	{Name: "disabled_why", Of: func(w connectors.Webhook) any { return w.DisabledWhy }},
	{Name: "kinds", Of: func(w connectors.Webhook) any { return kindNames(w.Kinds) }},
	{Name: "failures", Of: func(w connectors.Webhook) any { return w.Failures }},
	{Name: "failing_since", Of: func(w connectors.Webhook) any { return w.FailingSince }},
	{Name: "delivered_at", Of: func(w connectors.Webhook) any { return w.DeliveredAt }},
	{Name: "created_at", Of: func(w connectors.Webhook) any { return w.CreatedAt }},
	{Name: "updated_at", Of: func(w connectors.Webhook) any { return w.UpdatedAt }},
}

func (h *Handler) webhookFile(w http.ResponseWriter, r *http.Request) error {
	return shell.TableFile[connectors.Webhook]{Name: "webhooks", Columns: webhookColumns, List: h.TenantStore(r).Webhooks().List}.Serve(h.Shell, w, r)
}

// webhookHost returns the host of a webhook's address; empty if it has none.
func webhookHost(w connectors.Webhook) string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

func kindNames(kinds []connectors.NoticeKind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return names
}
