package admin

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// ownAccountsPath is where a member connects the accounts that their agents use.
const (
	ownAccountsPath = "/account/connections"
	ownAccountRoute = ownAccountsPath + "/{agent}/{connector}"
)

// ownAccountPath is the page of one of them.
func ownAccountPath(agent connectors.AgentID, connector connectors.ConnectorID) string {
	return ownAccountsPath + "/" + agent.String() + "/" + connector.String()
}

// ownAccountList lists the accounts that the person's own agents have and miss.
func (h *Handler) ownAccountList(w http.ResponseWriter, r *http.Request) error {
	who, tenant := actor(r), h.tenant(r)
	agents, err := tenant.PersonalAgents(r.Context(), *who.UserID)
	if err != nil {
		return err
	}
	ids := make([]connectors.AgentID, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	accounts, err := tenant.AgentAccounts(r.Context(), ids...)
	if err != nil {
		return err
	}
	title := words.T(r.Context(), "My accounts")
	page := templates.OwnAccountsPage{
		Frame: h.frame(r, templates.NavAccount, crumb(words.T(r.Context(), "Account"), "/account"), crumb(title, "")),
	}
	if len(accounts) >= store.MaxAccounts {
		page.Limit = words.T(r.Context(), "These are the first %d.", store.MaxAccounts)
	}
	for _, a := range agents {
		own := templates.OwnAgent{Name: a.Name, Href: agentPath(a.Slug), Off: !a.Enabled}
		for _, one := range accounts {
			if one.AgentID == a.ID {
				own.Rows = append(own.Rows, ownAccount(r.Context(), who, one, h.now()))
			}
		}
		page.Agents = append(page.Agents, own)
	}
	return h.respond.Page(w, r, http.StatusOK, templates.OwnAccounts(page))
}

// ownAccount is what is known of an account.
func ownAccount(ctx context.Context, who auth.Actor, a store.AgentAccount, now time.Time) templates.OwnAccount {
	row := templates.OwnAccount{
		Key: a.AgentSlug + "-" + a.ConnectorSlug, Connector: a.ConnectorName, Host: hostsOf(a.ConnectorURL), Agent: a.AgentName, Auth: a.AuthType,
		Stored: a.Stored(), Works: a.Works(), State: credentialState(ctx, a.AuthType, a.State()), Account: clean(a.Account),
		Path: ownAccountPath(a.AgentID, a.ConnectorID), Looks: !who.Role.May(connectors.PermOperate),
	}
	if !a.Works() {
		row.Error = words.Said(ctx, a.Error)
	}
	if a.Since != nil {
		since := when(ctx, *a.Since, now)
		row.Since = &since
	}
	return row
}

// ownAccountShow is the page of one account, to which a program leads that misses it.
func (h *Handler) ownAccountShow(w http.ResponseWriter, r *http.Request) error {
	own, err := h.own(r)
	if err != nil {
		return err
	}
	return h.ownAccountPage(w, r, http.StatusOK, own, form{}, nil)
}

// own finds the account of an address, for the person whose it is or would be. Nobody else gets as far as the button: who was sent here by
// somebody else would give their account away.
func (h *Handler) own(r *http.Request) (store.AgentAccount, error) {
	tenant, who := h.tenant(r), actor(r)
	agent, err := tenant.Agent(r.Context(), ref(r, "agent"))
	if err != nil {
		return store.AgentAccount{}, elsewhereOr(who, err)
	}
	if err := who.RequireSelf(r.Context(), tenant, agent.ID); err != nil {
		return store.AgentAccount{}, err
	}
	accounts, err := tenant.AgentAccounts(r.Context(), agent.ID)
	if err != nil {
		return store.AgentAccount{}, err
	}
	wanted := ref(r, "connector")
	for _, a := range accounts {
		if wanted == connectors.Ref(a.ConnectorID.String()) || wanted == connectors.Ref(a.ConnectorSlug) {
			return a, nil
		}
	}
	return store.AgentAccount{}, fault.Errorf(fault.NotFound, "This agent uses no account of yours there: the connector is not granted to it any more, or has one account for all.")
}

// elsewhereOr says of an agent that there is not that it may be one of another organisation of the person.
func elsewhereOr(who auth.Actor, err error) error {
	if fault.Is(err, fault.NotFound) && len(who.Memberships) > 1 {
		return fault.Errorf(fault.NotFound, "There is no such agent in %s. If it is one of another organisation of yours, switch to that, and open the link again.", who.Tenant.Name)
	}
	return err
}

func (h *Handler) ownAccountPage(w http.ResponseWriter, r *http.Request, status int, own store.AgentAccount, f form, problem *fault.Error) error {
	row := ownAccount(r.Context(), actor(r), own, h.now())
	page := templates.OwnAccountPage{
		Frame: h.door(r, words.T(r.Context(), "Connect %s", own.ConnectorName)), Tenant: actor(r).Tenant.Name, Person: actor(r).Email, Row: row,
	}
	if problem != nil {
		respond.SetRetryAfter(w.Header(), problem)
		if page.Form = f.again(problem); own.AuthType == connectors.AuthOAuth2 {
			page.Problem = problem.Message
		}
	}
	return h.respond.Page(w, r, status, templates.OwnAccountOf(page))
}

// refsOf are the connector and the agent of an account.
func refsOf(a store.AgentAccount) (connectors.Ref, *connectors.Ref) {
	agent := connectors.Ref(a.AgentID.String())
	return connectors.Ref(a.ConnectorID.String()), &agent
}

// ownBack leads back to the account, or to the list where it was asked for there.
func (h *Handler) ownBack(w http.ResponseWriter, r *http.Request, own store.AgentAccount, says string) error {
	to := ownAccountPath(own.AgentID, own.ConnectorID)
	if from, err := url.Parse(r.Referer()); err == nil && from.Path == ownAccountsPath {
		to = ownAccountsPath
	}
	return h.respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: says})
}
