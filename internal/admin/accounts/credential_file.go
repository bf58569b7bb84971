package accounts

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/store"
)

// credentialColumns are a credential's columns, without its secret.
var credentialColumns = []export.Column[store.ConnectorAccount]{
	{Name: "agent_id", Of: func(a store.ConnectorAccount) any {
		if a.Credential.AgentID == nil {
			return nil
		}
		return a.Credential.AgentID.String()
	}},
	{Name: "agent", Of: func(a store.ConnectorAccount) any { return a.Credential.AgentSlug }},
	{Name: "agent_name", Of: func(a store.ConnectorAccount) any { return a.Credential.AgentName }},
	{Name: "granted", Of: func(a store.ConnectorAccount) any { return a.Granted }},
	{Name: "status", Of: func(a store.ConnectorAccount) any {
		if !a.IsStored() {
			return connectors.CredentialStatus(store.AccountMissing)
		}
		return a.Credential.Status
	}},
	{Name: "type", Of: func(a store.ConnectorAccount) any { return a.Credential.Type }},
	{Name: "account", Of: func(a store.ConnectorAccount) any { return a.Credential.Account }},
	{Name: "scopes", Of: func(a store.ConnectorAccount) any { return a.Credential.Scopes }},
	{Name: "expires_at", Of: func(a store.ConnectorAccount) any { return a.Credential.ExpiresAt }},
	{Name: "refreshed_at", Of: func(a store.ConnectorAccount) any { return a.Credential.RefreshedAt }},
	{Name: "last_used_at", Of: func(a store.ConnectorAccount) any { return a.Credential.LastUsedAt }},
	{Name: "error", Of: func(a store.ConnectorAccount) any { return a.Credential.Error }},
	{Name: "name", Of: func(a store.ConnectorAccount) any { return a.Credential.Name }},
}

func (h *Handler) credentialFile(w http.ResponseWriter, r *http.Request) error {
	c, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	query := readCredentialQuery(r.URL.Query())
	list := func(ctx context.Context, p store.Page) (accounts store.List[store.ConnectorAccount], err error) {
		err = h.TenantStore(r).Snapshot(ctx, func(tx *store.Tenant) error {
			accounts, err = query.loadAccounts(ctx, shell.Actor(r), tx, c, p)
			return err
		})
		return accounts, err
	}
	return shell.TableFile[store.ConnectorAccount]{Name: "credentials", Columns: credentialColumns, List: list}.Serve(h.Shell, w, r)
}
