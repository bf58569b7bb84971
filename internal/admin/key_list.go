package admin

import (
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// keyList lists the API keys.
func (h *Handler) keyList(w http.ResponseWriter, r *http.Request) error {
	return h.keysPage(w, r, http.StatusOK, templates.Form{Values: map[string]string{"role": string(connectors.RoleViewer)}}, nil)
}

func (h *Handler) keysPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, made *templates.NewAPIKey) error {
	list, err := h.tenant(r).APIKeys(r.Context(), store.Page{Cursor: r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	page := templates.APIKeysPage{
		Frame: h.frame(r, templates.NavAPIKeys, crumb("API keys", "")),
		Count: countOf(len(list.Items), pager(r, list.Next), "key"),
		Roles: roleOptions(),
		Form:  f,
		New:   made,
		Pager: pager(r, list.Next),
	}
	for _, k := range list.Items {
		page.Rows = append(page.Rows, keyRow(k, h.now()))
	}
	return h.respond.Page(w, r, status, templates.APIKeys(page))
}

// keyRow is one key in the list.
func keyRow(k connectors.APIKey, now time.Time) templates.APIKeyRow {
	row := templates.APIKeyRow{
		Name:     k.Name,
		Prefix:   k.Prefix,
		Role:     roleName(k.Role),
		State:    templates.State{Kind: templates.StateOK, Text: "Active"},
		Created:  when(k.CreatedAt, now),
		LastUsed: whenOrNever(k.LastUsedAt, now),
		Expires:  whenOrNever(k.ExpiresAt, now),
		Revoke:   "/api-keys/" + k.ID.String() + "/revoke",
	}
	switch {
	case k.RevokedAt != nil:
		row.State, row.Revoke = templates.State{Kind: templates.StateOff, Text: "Revoked"}, ""
	case k.ExpiresAt != nil && !k.ExpiresAt.After(now):
		row.State = templates.State{Kind: templates.StateOff, Text: "Expired"}
	}
	return row
}
