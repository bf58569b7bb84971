package settings

import (
	"context"
	"net/http"
	"patchbay/internal/store"
	"slices"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

func (h *Handler) keyList(w http.ResponseWriter, r *http.Request) error {
	return h.keysPage(w, r, http.StatusOK, templates.Form{Values: map[string]string{"role": string(connectors.RoleViewer)}}, nil)
}

func (h *Handler) keysPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, created *templates.NewAPIKey) error {
	var list store.List[connectors.APIKey]
	total := 0
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if list, err = tx.People().APIKeys(r.Context(), shell.ReadPage(r)); err != nil {
			return err
		}
		total, err = tx.Lists().APIKeys(r.Context())
		return err
	})
	if err != nil {
		return err
	}
	pager := shell.WithTotal(shell.NewPager(r, list.Next, len(list.Items)), total)
	page := templates.APIKeysPage{
		Frame: h.NewFrame(r, templates.NavAPIKeys, shell.NewCrumb(i18n.T(r.Context(), "API keys"), "")),
		Count: shell.FormatCount(r.Context(), len(list.Items), pager, "%s key", "%s keys"),
		Roles: shell.RoleOptions(r.Context()),
		Form:  f,
		New:   created,
		Pager: pager,
	}
	for _, k := range list.Items {
		page.Rows = append(page.Rows, keyRow(r.Context(), k, h.Now()))
	}
	page.Soon = expiringKeysAttention(r.Context(), list.Items, h.Now())
	return h.Respond.Page(w, r, status, templates.APIKeys(page))
}

func keyRow(ctx context.Context, k connectors.APIKey, now time.Time) templates.APIKeyRow {
	row := templates.APIKeyRow{
		Name:     k.Name,
		Prefix:   k.Prefix,
		By:       k.CreatedBy,
		Role:     shell.RoleName(ctx, k.Role),
		State:    templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Active")},
		Created:  shell.NewWhen(ctx, k.CreatedAt, now),
		LastUsed: shell.NewWhenOrNever(ctx, k.LastUsedAt, now),
		Expires:  shell.NewWhenOrNever(ctx, k.ExpiresAt, now),
		Revoke:   "/api-keys/" + k.ID.String() + "/revoke",
	}
	switch {
	case k.RevokedAt != nil:
		row.State, row.Revoke = templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Revoked")}, ""
	case k.ExpiresAt != nil && !k.ExpiresAt.After(now):
		row.State = templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Expired")}
	case expiresSoon(k, now):
		row.State = templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Expires soon")}
	}
	return row
}

// keyWarning is how long before a key's expiry the page warns.
const keyWarning = 7 * 24 * time.Hour

func expiresSoon(k connectors.APIKey, now time.Time) bool {
	return k.RevokedAt == nil && k.ExpiresAt != nil && k.ExpiresAt.After(now) && k.ExpiresAt.Sub(now) <= keyWarning
}

// expiringKeysAttention warns of keys that expire soon, and names the first; nil if none does.
func expiringKeysAttention(ctx context.Context, keys []connectors.APIKey, now time.Time) *templates.Attention {
	var expiring []connectors.APIKey
	for _, k := range keys {
		if expiresSoon(k, now) {
			expiring = append(expiring, k)
		}
	}
	if len(expiring) == 0 {
		return nil
	}
	slices.SortStableFunc(expiring, func(a, b connectors.APIKey) int { return a.ExpiresAt.Compare(*b.ExpiresAt) })
	first := shell.NewWhen(ctx, *expiring[0].ExpiresAt, now)
	title := i18n.T(ctx, "“%s” expires soon", expiring[0].Name)
	if len(expiring) > 1 {
		title = i18n.N(ctx, len(expiring), "%s key expires within a week", "%s keys expire within a week")
	}
	return &templates.Attention{
		Kind: templates.StateWarn, Title: title, When: &first,
		Text: i18n.T(ctx, "Create a new key before then, or clients lose access."),
	}
}

var keyColumns = []export.Column[connectors.APIKey]{
	{Name: "id", Of: func(k connectors.APIKey) any { return k.ID.String() }},
	{Name: "name", Of: func(k connectors.APIKey) any { return k.Name }},
	{Name: "prefix", Of: func(k connectors.APIKey) any { return k.Prefix }},
	{Name: "role", Of: func(k connectors.APIKey) any { return k.Role }},
	{Name: "created_at", Of: func(k connectors.APIKey) any { return k.CreatedAt }},
	{Name: "expires_at", Of: func(k connectors.APIKey) any { return k.ExpiresAt }},
	{Name: "last_used_at", Of: func(k connectors.APIKey) any { return k.LastUsedAt }},
	{Name: "revoked_at", Of: func(k connectors.APIKey) any { return k.RevokedAt }},
}

func (h *Handler) keyFile(w http.ResponseWriter, r *http.Request) error {
	return shell.TableFile[connectors.APIKey]{Name: "api-keys", Columns: keyColumns, List: h.TenantStore(r).People().APIKeys}.Serve(h.Shell, w, r)
}
