package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// MaxAccounts is how many rows [Tenant.AgentAccounts] returns at most.
const MaxAccounts = 500

// AgentAccount is what an agent has at a connector that it was granted and that wants an account of each agent.
type AgentAccount struct {
	AgentID      connectors.AgentID
	AgentSlug    string
	AgentName    string
	AgentEnabled bool

	ConnectorID      connectors.ConnectorID
	ConnectorSlug    string
	ConnectorName    string
	ConnectorURL     string
	ConnectorEnabled bool
	AuthType         connectors.AuthType

	Type    connectors.AuthType         // of what is stored; empty: nothing is
	Status  connectors.CredentialStatus // empty: nothing is stored
	Account string                      // who it is there, where known
	Error   string                      // why it does not work any more; empty: nobody knows of anything
	Since   *time.Time                  // when it was put there; nil: nothing is stored
}

// Stored tells whether there is an account, or a secret, dead or alive.
func (a AgentAccount) Stored() bool { return a.Status != "" }

// State is how the account is; empty: it is missing. What was stored for another kind of sign-in than the connector has by now is dead.
func (a AgentAccount) State() connectors.CredentialStatus {
	if a.Stored() && a.Type != a.AuthType {
		return connectors.CredentialRevoked
	}
	return a.Status
}

// Works tells whether it may be used, as far as anybody knows.
func (a AgentAccount) Works() bool {
	return a.Type == a.AuthType && (a.Status == connectors.CredentialActive || a.Status == connectors.CredentialRefreshFailed)
}

// AgentAccounts lists the accounts that agents have or miss, by the names of agent and connector.
func (t *Tenant) AgentAccounts(ctx context.Context, agents ...connectors.AgentID) ([]AgentAccount, error) {
	rows, err := t.q.AgentAccounts(ctx, t.id, uuidsOf(agents), MaxAccounts)
	if err != nil {
		return nil, err
	}
	all := make([]AgentAccount, len(rows))
	for i, r := range rows {
		since := r.ConnectedAt
		if since == nil {
			since = r.StoredAt
		}
		all[i] = AgentAccount{
			AgentID: r.AgentID, AgentSlug: r.AgentSlug, AgentName: r.AgentName, AgentEnabled: r.AgentEnabled,
			ConnectorID: r.ConnectorID, ConnectorSlug: r.Slug, ConnectorName: r.Name, ConnectorURL: r.Url, ConnectorEnabled: r.Enabled,
			AuthType: r.AuthType, Type: connectors.AuthType(r.Type), Status: connectors.CredentialStatus(r.Status), Account: r.Account,
			Error: r.Error, Since: utc(since),
		}
	}
	return all, nil
}

func uuidsOf(agents []connectors.AgentID) []uuid.UUID {
	all := make([]uuid.UUID, len(agents))
	for i, a := range agents {
		all[i] = a.UUID
	}
	return all
}

// AgentMember is the member for whose programs an agent was made; NotFound: it is the tenant's.
func (t *Tenant) AgentMember(ctx context.Context, agent connectors.AgentID) (connectors.Member, error) {
	whose, err := t.AgentsOfMembers(ctx, agent)
	if err != nil {
		return connectors.Member{}, err
	}
	m, ok := whose[agent]
	if !ok {
		return connectors.Member{}, missing("member")
	}
	return m, nil
}

// AgentsOfMembers tells of those agents that belong to a member whose they are.
func (t *Tenant) AgentsOfMembers(ctx context.Context, agents ...connectors.AgentID) (map[connectors.AgentID]connectors.Member, error) {
	if len(agents) == 0 {
		return nil, nil
	}
	rows, err := t.q.AgentsOfMembers(ctx, t.id, uuidsOf(agents))
	if err != nil {
		return nil, err
	}
	whose := make(map[connectors.AgentID]connectors.Member, len(rows))
	for _, r := range rows {
		whose[r.AgentID] = connectors.Member{UserID: r.ID, Email: r.Email, Name: r.Name, Role: r.Role, CreatedAt: r.CreatedAt.UTC()}
	}
	return whose, nil
}

// endAgentsOf disables the agents of a member who leaves, and forgets their accounts, which are that person's. It returns their slugs.
func (t *Tenant) endAgentsOf(ctx context.Context, user connectors.UserID) ([]string, error) {
	agents, err := t.q.DisableAgentsOf(ctx, t.id, user)
	if err != nil || len(agents) == 0 {
		return nil, err
	}
	var ids []connectors.AgentID
	var slugs []string
	for _, a := range agents {
		ids, slugs = append(ids, a.ID), append(slugs, a.Slug)
		err = t.says(err, "agent", a.ID)
	}
	at, err := t.q.DropCredentialsOfAgents(ctx, t.id, uuidsOf(ids))
	for _, id := range at {
		err = t.says(err, "credential", id)
	}
	return slugs, err
}

// AccountRequest is a call that missed an account, and told its client where a person connects it.
type AccountRequest struct {
	ID        connectors.AccountRequestID
	Connector connectors.ConnectorID
	Connected bool // an account was put there since
	Used      bool // the call went on
	ExpiresAt time.Time
}

// NewAccountRequest is one to be stored.
type NewAccountRequest struct {
	Agent     connectors.AgentID
	Connector connectors.ConnectorID
	Session   string // of the client that is told when the account is there; empty: it comes back by itself
	Now       time.Time
	ExpiresAt time.Time
}

// MostAccountRequests is how many an agent may have open. Those that are over count until the next one.
const MostAccountRequests = 100

// AskAccount notes that a call misses an account. A session that asks for the same again has the same request. RateLimited: the agent has too
// many open.
func (t *Tenant) AskAccount(ctx context.Context, n NewAccountRequest) (id connectors.AccountRequestID, err error) {
	err = t.within(ctx, func(tx *Tenant) error {
		if err := tx.q.ForgetAccountRequests(ctx, tx.id, n.Agent, n.Now); err != nil {
			return err
		}
		id, err = tx.q.RenewAccountRequest(ctx, dbgen.RenewAccountRequestParams{
			TenantID: tx.id, AgentID: n.Agent, ConnectorID: n.Connector, Session: n.Session, ExpiresAt: n.ExpiresAt,
		})
		if !fault.Is(found(err, "request"), fault.NotFound) {
			return err
		}
		open, err := tx.q.OpenAccountRequests(ctx, tx.id, n.Agent)
		if err != nil {
			return err
		}
		if open >= MostAccountRequests {
			return fault.Errorf(fault.RateLimited, "%d calls of this agent wait for accounts already.", open)
		}
		id = connectors.AccountRequestID{UUID: newID()}
		return tx.q.InsertAccountRequest(ctx, dbgen.InsertAccountRequestParams{
			TenantID: tx.id, ID: id, AgentID: n.Agent, ConnectorID: n.Connector, Session: n.Session, ExpiresAt: n.ExpiresAt,
		})
	})
	return id, err
}

// AccountRequest reads a request of an agent.
func (t *Tenant) AccountRequest(ctx context.Context, agent connectors.AgentID, id connectors.AccountRequestID) (AccountRequest, error) {
	r, err := t.q.AccountRequest(ctx, t.id, id, agent)
	if err != nil {
		return AccountRequest{}, found(err, "request")
	}
	return AccountRequest{
		ID: r.ID, Connector: r.ConnectorID, Connected: r.ConnectedAt != nil, Used: r.UsedAt != nil, ExpiresAt: r.ExpiresAt.UTC(),
	}, nil
}

// UseAccountRequest lets the call of a request go on; NotFound: it went on already, or the account is not there.
func (t *Tenant) UseAccountRequest(ctx context.Context, agent connectors.AgentID, id connectors.AccountRequestID, now time.Time) error {
	n, err := t.q.UseAccountRequest(ctx, dbgen.UseAccountRequestParams{TenantID: t.id, ID: id, AgentID: agent, Now: &now})
	return touched(n, err, "request")
}

// ConnectedRequests are the requests of a session whose accounts are there.
func (t *Tenant) ConnectedRequests(ctx context.Context, agent connectors.AgentID, session string) ([]connectors.AccountRequestID, error) {
	return t.q.ConnectedRequests(ctx, t.id, agent, session)
}

// connected tells the calls that missed an agent's account that it is there.
func (t *Tenant) connected(ctx context.Context, connector connectors.ConnectorID, agent *connectors.AgentID) error {
	if agent == nil {
		return nil
	}
	n, err := t.q.ConnectAccountRequests(ctx, t.id, agent.UUID, connector)
	if err != nil || n == 0 {
		return err
	}
	return t.says(nil, NoticeAccount, agent)
}
