package accounts

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// Pages where a member connects the accounts of their agents.
const (
	ownAccountsPath = "/account/connections"
	ownAccountRoute = ownAccountsPath + "/{agent}/{connector}"
)

func ownAccountPath(agent connectors.AgentID, connector connectors.ConnectorID) string {
	return ownAccountsPath + "/" + agent.String() + "/" + connector.String()
}

// ownAccountList lists the accounts of the person's own agents, connected or missing.
func (h *Handler) ownAccountList(w http.ResponseWriter, r *http.Request) error {
	person := shell.Actor(r)
	var agents []connectors.Agent
	var accounts []store.AgentAccount
	var marks shell.Marks
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if agents, err = tx.Agents().PersonalAgents(r.Context(), *person.UserID); err != nil {
			return err
		}
		ids := make([]connectors.AgentID, len(agents))
		for i, a := range agents {
			ids[i] = a.ID
		}
		if accounts, err = tx.Accounts().AgentAccounts(r.Context(), ids...); err != nil {
			return err
		}
		marks, err = shell.ReadMarks(r.Context(), h.Shell, tx, accounts, func(a store.AgentAccount) string { return a.ConnectorSlug })
		return err
	})
	if err != nil {
		return err
	}
	title := i18n.T(r.Context(), "My accounts")
	page := templates.OwnAccountsPage{
		Frame: h.NewFrame(r, templates.NavAccount, shell.NewCrumb(i18n.T(r.Context(), "Account"), "/account"), shell.NewCrumb(title, "")),
	}
	if len(accounts) >= store.MaxAccounts {
		page.Limit = i18n.T(r.Context(), "Showing the first %d.", store.MaxAccounts)
	}
	for _, a := range agents {
		own := templates.OwnAgent{Name: a.Name, Href: shell.AgentPath(a.Slug), Off: !a.Enabled}
		for _, one := range accounts {
			if one.AgentID == a.ID {
				row := ownAccount(r.Context(), person, one, h.Now())
				row.Mark = marks.Mark(row.Connector, one.ConnectorSlug)
				own.Rows = append(own.Rows, row)
			}
		}
		page.Agents = append(page.Agents, own)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.OwnAccounts(page))
}

func ownAccount(ctx context.Context, person auth.Actor, a store.AgentAccount, now time.Time) templates.OwnAccount {
	row := templates.OwnAccount{
		Key: a.AgentSlug + "-" + a.ConnectorSlug, Connector: a.ConnectorName, Host: shell.HostWithUnicode(a.CredentialURL), Agent: a.AgentName, Auth: a.AuthType,
		Stored: a.IsStored(), Works: a.IsUsable(), State: shell.CredentialState(ctx, a.AuthType, a.State()), Account: accountLabel(a.Account, a.Identity), Known: a.Identity.IsKnown(),
		Path: ownAccountPath(a.AgentID, a.ConnectorID), Looks: !person.Role.May(connectors.PermOperate),
	}
	if !a.IsUsable() {
		row.Error, row.Said = i18n.TranslateKnown(ctx, a.Error), respond.NewQuote(ctx, a.Said)
	}
	if a.Since != nil {
		since := shell.NewWhen(ctx, *a.Since, now)
		row.Since = &since
	}
	return row
}

// ownAccountShow is the page of one account. Programs link to it when it is missing.
func (h *Handler) ownAccountShow(w http.ResponseWriter, r *http.Request) error {
	own, err := h.findOwnAccount(r)
	if err != nil {
		return err
	}
	return h.ownAccountPage(w, r, http.StatusOK, own, shell.PostedForm{}, nil)
}

// findOwnAccount finds the account in the path, for its owner alone. Another person would connect their own
// account to an agent that is not theirs.
func (h *Handler) findOwnAccount(r *http.Request) (store.AgentAccount, error) {
	var accounts []store.AgentAccount
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) error {
		agent, err := tx.Agents().Get(r.Context(), shell.PathRef(r, "agent"))
		if err != nil {
			return mentionOtherTenants(shell.Actor(r), err)
		}
		if err := shell.Actor(r).RequireSelf(r.Context(), tx.Accounts(), agent.ID); err != nil {
			return err
		}
		accounts, err = tx.Accounts().AgentAccounts(r.Context(), agent.ID)
		return err
	})
	if err != nil {
		return store.AgentAccount{}, err
	}
	connector := shell.PathRef(r, "connector")
	for _, a := range accounts {
		if connector == connectors.Ref(a.ConnectorID.String()) || connector == connectors.Ref(a.ConnectorSlug) {
			return a, nil
		}
	}
	return store.AgentAccount{}, fault.Errorf(fault.NotFound, "This agent doesn't need your account: it lost access, or the connector shares one account.")
}

// mentionOtherTenants adds to a missing agent's error that it may be in another tenant of the person.
func mentionOtherTenants(person auth.Actor, err error) error {
	if fault.Is(err, fault.NotFound) && len(person.Memberships) > 1 {
		return fault.Errorf(fault.NotFound, "No such agent in %s. If it's in another organisation, switch there and reopen the link.", person.Tenant.Name)
	}
	return err
}

func (h *Handler) ownAccountPage(w http.ResponseWriter, r *http.Request, status int, own store.AgentAccount, f shell.PostedForm, problem *fault.Error) error {
	row := ownAccount(r.Context(), shell.Actor(r), own, h.Now())
	page := templates.OwnAccountPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Connect %s", own.ConnectorName)), Tenant: shell.Actor(r).Tenant.Name, Person: shell.Actor(r).Email, Row: row,
	}
	if problem != nil {
		respond.SetRetryAfter(w.Header(), problem)
		if page.Form = f.ToForm(problem); own.AuthType == connectors.AuthOAuth2 {
			page.Problem = problem.Message
		}
	}
	return h.Respond.Page(w, r, status, templates.OwnAccountOf(page))
}

func accountRefs(a store.AgentAccount) (connectors.Ref, *connectors.Ref) {
	agent := connectors.Ref(a.AgentID.String())
	return connectors.Ref(a.ConnectorID.String()), &agent
}

// redirectToOwnAccount leads to the account's page, or to the list if the form was there.
func (h *Handler) redirectToOwnAccount(w http.ResponseWriter, r *http.Request, own store.AgentAccount, message string) error {
	to := ownAccountPath(own.AgentID, own.ConnectorID)
	if referer, err := url.Parse(r.Referer()); err == nil && referer.Path == ownAccountsPath {
		to = ownAccountsPath
	}
	return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: message})
}
