package accounts

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// credentialList shows a connector's credentials, without secrets.
func (h *Handler) credentialList(w http.ResponseWriter, r *http.Request) error {
	return h.credentialsPage(w, r, credentialsPageState{})
}

// credentialsPageState is the result of an action on the page.
type credentialsPageState struct {
	status    int // 0: 200
	alert     string
	link      *templates.ConnectLink
	diagnosis *templates.Diagnosis

	// A refused form.
	place   accountPlace
	form    shell.PostedForm
	problem *fault.Error
}

func (h *Handler) credentialsPage(w http.ResponseWriter, r *http.Request, state credentialsPageState) error {
	var (
		query    = readCredentialQuery(r.URL.Query())
		c        connectors.Connector
		accounts store.List[store.ConnectorAccount]
		owners   map[connectors.AgentID]connectors.Member
		missing  int
		total    int
	)
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		if accounts, err = query.loadAccounts(r.Context(), shell.Actor(r), tx, c, shell.ReadPage(r)); err != nil {
			return err
		}
		if total, err = tx.Lists().ConnectorAccounts(r.Context(), query.toFilter(c, store.Page{})); err != nil {
			return err
		}
		if owners, err = loadAgentOwners(r.Context(), tx.Accounts(), c, accounts.Items); err != nil {
			return err
		}
		missing, err = countMissing(r.Context(), shell.Actor(r), tx.Accounts(), c)
		return err
	})
	if err != nil {
		return err
	}
	page := templates.ConnectorCredentialsPage{
		Frame:     h.ConnectorPages.ConnectorFrame(r, c, i18n.T(r.Context(), "Credentials")),
		Head:      connectorpages.ConnectorHead(r.Context(), c, templates.TabCredentials, h.ConnectorMark(c)),
		Auth:      c.Auth.Type,
		Mode:      c.CredentialMode,
		About:     authSentence(r.Context(), shell.Actor(r).Tenant, c, len(accounts.Items) > 1),
		Filter:    templates.Form{Values: map[string]string{"q": query.words, "status": string(query.state)}},
		Filtered:  query.isFiltered(),
		States:    accountStateOptions(r.Context(), c.Auth.Type),
		Rows:      credentialRows(r.Context(), c, accounts.Items, owners, h.Now()),
		Missing:   h.missingNotice(r.Context(), c, missing),
		Link:      state.link,
		Diagnosis: state.diagnosis,
	}
	if c.Auth.Type != connectors.AuthNone {
		page.Pager = shell.WithBoundedTotal(shell.NewPager(r, accounts.Next, len(accounts.Items)), total)
	}
	page.Count = shell.FormatCount(r.Context(), len(page.Rows), page.Pager, "%s agent", "%s agents")
	if slices.ContainsFunc(page.Rows, func(row templates.CredentialRow) bool { return !row.First }) {
		page.Count = shell.FormatCount(r.Context(), len(page.Rows), page.Pager, "%s account", "%s accounts")
	}
	if r.Method == http.MethodPost {
		page.Frame.Path = shell.CredentialsPath(c.Slug) // where the page's forms return to
	}
	if state.alert != "" {
		page.Frame.Flash = &templates.Flash{Kind: templates.FlashAlert, Text: state.alert}
	}
	if page.Diagnosis == nil && page.Frame.Can.Manage && usesOAuth(c) {
		page.Diagnosis = h.newDiagnosis(r.Context(), c, nil)
	}
	var offered []string
	if page.Frame.Can.Manage {
		offered = h.Registry.WorkloadTokens(shell.Actor(r).Tenant, c)
	}
	for i := range page.Rows {
		page.Rows[i].WorkloadTokens = offered
		if state.problem != nil {
			state.showForm(&page.Rows[i])
		}
	}
	return h.Respond.Page(w, r, cmp.Or(state.status, http.StatusOK), templates.ConnectorCredentials(page))
}

// showForm shows the refused form in its row.
func (s credentialsPageState) showForm(row *templates.CredentialRow) {
	isHere := row.Owner == s.place.owner && (s.place.account == "" || row.Name == s.place.account)
	if form := s.form.ToForm(s.problem); isHere {
		switch s.place.part {
		case renamePart:
			row.Rename, row.Renames = form, true
		case addPart:
			row.Another, row.Adds = form, true
		default:
			row.Form, row.Open = form, true
		}
	}
}

// credentialQuery is the page's query.
type credentialQuery struct {
	words string
	state store.AccountState
}

// accountStates are the states that the filter offers.
var accountStates = []store.AccountState{store.AccountMissing, store.AccountConnected, store.AccountAttention}

func readCredentialQuery(values url.Values) credentialQuery {
	q := credentialQuery{words: strings.TrimSpace(values.Get("q"))}
	if state := store.AccountState(values.Get("status")); slices.Contains(accountStates, state) {
		q.state = state
	}
	return q
}

func (q credentialQuery) isFiltered() bool { return q != (credentialQuery{}) }

func (q credentialQuery) toFilter(c connectors.Connector, page store.Page) store.ConnectorAccountFilter {
	return store.ConnectorAccountFilter{Connector: c.ID, State: q.state, Query: q.words, EndsSoon: connectorpages.ExpiryHorizon, Page: page}
}

// loadAccounts reads a page of a connector's credentials, without secrets and without account names that the person may
// not read. A shared credential is one row without an agent, filtered or not.
func (q credentialQuery) loadAccounts(
	ctx context.Context, person auth.Actor, tx *store.Tenant, c connectors.Connector, page store.Page,
) (store.List[store.ConnectorAccount], error) {
	var list store.List[store.ConnectorAccount]
	var err error
	switch {
	case c.Auth.Type == connectors.AuthNone:
		return list, nil
	case c.CredentialMode == connectors.CredentialShared:
		list.Items, err = loadSharedAccounts(ctx, tx, c)
	default:
		list, err = tx.Accounts().ConnectorAccounts(ctx, q.toFilter(c, page))
	}
	if err != nil {
		return store.List[store.ConnectorAccount]{}, err
	}
	credentials := make([]connectors.Credential, len(list.Items))
	for i, one := range list.Items {
		credentials[i] = one.Credential
	}
	if err := person.HideAccounts(ctx, tx.Accounts(), credentials); err != nil {
		return store.List[store.ConnectorAccount]{}, err
	}
	for i := range list.Items {
		list.Items[i].Credential = credentials[i]
	}
	return list, nil
}

// loadSharedAccounts returns the rows of the shared credentials; one without a credential if there is none.
func loadSharedAccounts(ctx context.Context, tx *store.Tenant, c connectors.Connector) ([]store.ConnectorAccount, error) {
	list, err := tx.Connectors().Credentials(ctx, c.ID, store.Page{Limit: store.MaxLimit})
	if err != nil {
		return nil, err
	}
	var rows []store.ConnectorAccount
	for _, one := range list.Items {
		if one.AgentID == nil {
			rows = append(rows, store.ConnectorAccount{Granted: true, Credential: one})
		}
	}
	if len(rows) == 0 {
		rows = append(rows, store.ConnectorAccount{Granted: true, Credential: connectors.Credential{ConnectorID: c.ID}})
	}
	slices.SortFunc(rows, func(a, b store.ConnectorAccount) int { return cmp.Compare(a.Credential.Name, b.Credential.Name) })
	if c.Auth.Type != connectors.AuthOAuth2 || !rows[0].IsStored() {
		return rows, nil
	}
	expiring, err := tx.Accounts().ExpiringCredentials(ctx, connectorpages.ExpiryHorizon, connectorpages.MaxExpiring)
	if err != nil {
		return nil, err
	}
	for _, one := range expiring {
		for i := range rows {
			if one.ConnectorSlug == c.Slug && one.AgentSlug == "" && one.Name == rows[i].Credential.Name {
				rows[i].EndsAt = &one.EndsAt
			}
		}
	}
	return rows, nil
}

// loadAgentOwners returns the members that own agents. Their accounts cannot be connected by a link.
func loadAgentOwners(ctx context.Context, tenant store.Accounts, c connectors.Connector, accounts []store.ConnectorAccount) (map[connectors.AgentID]connectors.Member, error) {
	if c.CredentialMode != connectors.CredentialPerAgent || c.Auth.Type != connectors.AuthOAuth2 {
		return nil, nil
	}
	ids := make([]connectors.AgentID, len(accounts))
	for i, one := range accounts {
		ids[i] = *one.Credential.AgentID
	}
	return tenant.AgentsOfMembers(ctx, ids...)
}

// usesOAuth reports whether a connector has an authorization server to discover.
func usesOAuth(c connectors.Connector) bool {
	switch c.Auth.Type {
	case connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
		return true
	default:
		return false
	}
}
