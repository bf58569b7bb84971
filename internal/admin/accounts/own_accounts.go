package accounts

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
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
	accounts = addBoundAccounts(accounts)
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
		Path: ownAccountPath(a.AgentID, a.ConnectorID), Name: a.Name, Looks: !person.Role.May(connectors.PermOperate),
	}
	if name := connectors.GivenName(a.Name); name != "" {
		row.Key += "." + name
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

// addBoundAccounts adds the accounts that grants bind and that are not stored, as missing ones.
func addBoundAccounts(accounts []store.AgentAccount) []store.AgentAccount {
	var all []store.AgentAccount
	for i, a := range accounts {
		all = append(all, a)
		isSame := func(o store.AgentAccount) bool { return o.AgentID == a.AgentID && o.ConnectorID == a.ConnectorID }
		if i < len(accounts)-1 && isSame(accounts[i+1]) {
			continue
		}
		for _, bound := range a.Bound {
			last := &all[len(all)-1]
			switch {
			case slices.ContainsFunc(accounts, func(o store.AgentAccount) bool { return isSame(o) && o.Name == bound }):
			case !last.IsStored() && last.Name == "":
				last.Name = bound
			default:
				missing := a
				missing.Name, missing.Type, missing.Status, missing.Account, missing.Identity = bound, "", "", "", connectors.Identity{}
				missing.Error, missing.Said, missing.Since = "", nil, nil
				all = append(all, missing)
			}
		}
	}
	return all
}

// ownAccountShow is the page of one account. Programs link to it when it is missing. The list is shown if it is not said which of several
// accounts is meant.
func (h *Handler) ownAccountShow(w http.ResponseWriter, r *http.Request) error {
	own, err := h.findOwnAccount(r, r.URL.Query().Get("account"))
	if errors.Is(err, errSeveralAccounts) {
		http.Redirect(w, r, ownAccountsPath, http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return err
	}
	return h.ownAccountPage(w, r, http.StatusOK, own, ownForm{})
}

// errSeveralAccounts is the cause of the error of a request that names none of several accounts.
var errSeveralAccounts = errors.New("several accounts")

// findOwnAccount finds the account in the path with a name, for its owner alone. Another person would connect their own
// account to an agent that is not theirs. Without a name it is the one of the grant, or the only one.
func (h *Handler) findOwnAccount(r *http.Request, name string) (store.AgentAccount, error) {
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
	isOther := func(a store.AgentAccount) bool {
		return connector != connectors.Ref(a.ConnectorID.String()) && connector != connectors.Ref(a.ConnectorSlug)
	}
	accounts = addBoundAccounts(slices.DeleteFunc(accounts, isOther))
	if len(accounts) == 0 {
		return store.AgentAccount{}, fault.Errorf(fault.NotFound, "This agent doesn't need your account: it lost access, or the connector shares one account.")
	}
	if bound := accounts[0].Bound; name == "" && len(bound) == 1 {
		name = bound[0]
	}
	if i := slices.IndexFunc(accounts, func(a store.AgentAccount) bool { return a.Name == name }); i >= 0 {
		return accounts[i], nil
	}
	if name != "" && accounts[0].IsStored() {
		return store.AgentAccount{}, fault.Errorf(fault.NotFound, "No account connected.")
	}
	if len(accounts) > 1 {
		return store.AgentAccount{}, fault.Wrap(fault.Conflict, errSeveralAccounts, "There are several accounts. Choose one.")
	}
	return accounts[0], nil
}

// mentionOtherTenants adds to a missing agent's error that it may be in another tenant of the person.
func mentionOtherTenants(person auth.Actor, err error) error {
	if fault.Is(err, fault.NotFound) && len(person.Memberships) > 1 {
		return fault.Errorf(fault.NotFound, "No such agent in %s. If it's in another organisation, switch there and reopen the link.", person.Tenant.Name)
	}
	return err
}

// ownForm is a refused form of an account's page.
type ownForm struct {
	part    string
	form    shell.PostedForm
	problem *fault.Error // nil: none was sent
}

func (h *Handler) ownAccountPage(w http.ResponseWriter, r *http.Request, status int, own store.AgentAccount, refused ownForm) error {
	row := ownAccount(r.Context(), shell.Actor(r), own, h.Now())
	page := templates.OwnAccountPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Connect %s", own.ConnectorName)), Tenant: shell.Actor(r).Tenant.Name, Person: shell.Actor(r).Email, Row: row,
	}
	if problem := refused.problem; problem != nil {
		respond.SetRetryAfter(w.Header(), problem)
		form := refused.form.ToForm(problem)
		switch {
		case refused.part == renamePart:
			page.Rename, page.Renames = form, true
		case refused.part == addPart:
			page.Another, page.Adds = form, true
		case own.AuthType == connectors.AuthOAuth2:
			page.Form, page.Problem = form, problem.Message
		default:
			page.Form = form
		}
	}
	return h.Respond.Page(w, r, status, templates.OwnAccountOf(page))
}

// renderOwnError shows a form again, with its errors. In the form of another account, a conflict stands beside the name.
func (h *Handler) renderOwnError(w http.ResponseWriter, r *http.Request, own store.AgentAccount, refused ownForm, err error) error {
	if refused.part == addPart {
		err = atField(err, "account", "account")
	}
	problem, ok := shell.AsFormFault(r.Context(), err)
	if !ok {
		return err
	}
	refused.problem = problem
	return h.ownAccountPage(w, r, respond.Status(problem.Kind), own, refused)
}

// ownRef names an account of the owner.
func ownRef(a store.AgentAccount, name string) manage.AccountRef {
	agent := connectors.Ref(a.AgentID.String())
	return manage.AccountRef{Connector: connectors.Ref(a.ConnectorID.String()), Agent: &agent, Name: name}
}

// ownAccountHref is the address of the page of an account with a name; empty: the only one.
func ownAccountHref(agent connectors.AgentID, connector connectors.ConnectorID, name string) string {
	path := ownAccountPath(agent, connector)
	if connectors.GivenName(name) == "" {
		return path
	}
	return shell.WithQuery(path, url.Values{"account": {name}})
}

// redirectToOwnAccount leads to the account's page, or to the list if the form was there.
func (h *Handler) redirectToOwnAccount(w http.ResponseWriter, r *http.Request, own store.AgentAccount, message string) error {
	to := ownAccountHref(own.AgentID, own.ConnectorID, own.Name)
	if referer, err := url.Parse(r.Referer()); err == nil && referer.Path == ownAccountsPath {
		to = ownAccountsPath
	}
	return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: message})
}
