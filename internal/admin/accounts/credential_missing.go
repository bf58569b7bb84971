package accounts

import (
	"context"
	"net/http"
	"net/url"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// missingPath is the page that lists the agents without a credential at a connector.
func missingPath(connector string) string { return shell.CredentialsPath(connector) + "/missing" }

// credentialsMissing lists the agents without a credential that the person may connect: managers all agents of the tenant,
// others their personal agents. Its address may be sent to anyone, since it opens for signed-in members only.
func (h *Handler) credentialsMissing(w http.ResponseWriter, r *http.Request) error {
	var (
		person   = shell.Actor(r)
		c        connectors.Connector
		accounts store.List[store.ConnectorAccount]
		owners   map[connectors.AgentID]connectors.Member
		total    int
	)
	filter := store.ConnectorAccountFilter{State: store.AccountMissing, Page: shell.ReadPage(r)}
	if !person.Role.May(connectors.PermManage) {
		filter.Person = person.UserID
	}
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		filter.Connector = c.ID
		if accounts, err = tx.Accounts().ConnectorAccounts(r.Context(), filter); err != nil {
			return err
		}
		if total, err = tx.Lists().ConnectorAccounts(r.Context(), filter); err != nil {
			return err
		}
		ids := make([]connectors.AgentID, len(accounts.Items))
		for i, a := range accounts.Items {
			ids[i] = *a.Credential.AgentID
		}
		owners, err = tx.Accounts().AgentsOfMembers(r.Context(), ids...)
		return err
	})
	if err != nil {
		return err
	}
	page := templates.MissingCredentialsPage{
		Frame: h.ConnectorPages.ConnectorFrame(r, c, i18n.T(r.Context(), "Missing credentials")),
		Head:  connectorpages.ConnectorHead(r.Context(), c, templates.TabCredentials, h.ConnectorMark(c)),
		Pager: shell.WithBoundedTotal(shell.NewPager(r, accounts.Next, len(accounts.Items)), total),
	}
	page.Count = shell.FormatCount(r.Context(), len(accounts.Items), page.Pager, "%s agent", "%s agents")
	for _, a := range accounts.Items {
		page.Rows = append(page.Rows, missingRow(person, c, a, owners))
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.MissingCredentials(page))
}

// missingRow is an agent without a credential, with the way to connect it that the person may take.
func missingRow(
	person auth.Actor, c connectors.Connector, a store.ConnectorAccount, owners map[connectors.AgentID]connectors.Member,
) templates.MissingCredentialRow {
	agent := *a.Credential.AgentID
	row := templates.MissingCredentialRow{Agent: a.Credential.AgentName, Href: shell.AgentPath(a.Credential.AgentSlug)}
	owner, isPersonal := owners[agent]
	switch {
	case isPersonal && (person.UserID == nil || *person.UserID != owner.UserID):
		row.Member = owner.DisplayName()
	case isPersonal && person.Role.May(connectors.PermOperate):
		row.Page = ownAccountPath(agent, c.ID)
	case isPersonal:
	case c.Auth.Type == connectors.AuthOAuth2:
		row.Action = shell.ConnectorPath(c.Slug) + shell.AgentPath(a.Credential.AgentSlug) + "/connect"
	default:
		filter := url.Values{"status": {string(store.AccountMissing)}, "q": {a.Credential.AgentSlug}}
		row.Page = shell.WithQuery(shell.CredentialsPath(c.Slug), filter) + "#credential-" + a.Credential.AgentSlug
	}
	return row
}

// countMissing returns how many agents lack a credential, for managers only. With token exchange, calls get what is missing.
func countMissing(ctx context.Context, person auth.Actor, tenant store.Accounts, c connectors.Connector) (int, error) {
	exchanges := c.OAuth.TokenExchange != "" && person.Tenant.TokenExchange
	if c.CredentialMode != connectors.CredentialPerAgent || c.Auth.Type == connectors.AuthNone || exchanges || !person.Role.May(connectors.PermManage) {
		return 0, nil
	}
	return tenant.CountMissing(ctx, c.ID)
}

// missingNotice leads to the page of missing credentials; nil if none is missing.
func (h *Handler) missingNotice(ctx context.Context, c connectors.Connector, missing int) *templates.MissingNotice {
	if missing == 0 {
		return nil
	}
	return &templates.MissingNotice{
		Title: i18n.N(ctx, missing, "%s agent needs credentials", "%s agents need credentials"), Path: missingPath(c.Slug), URL: h.BaseURL + missingPath(c.Slug),
	}
}
