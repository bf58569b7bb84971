package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// MaxAccounts bounds the rows of [Accounts.AgentAccounts].
const MaxAccounts = 500

// AgentAccount is an agent's account at a granted connector that requires one account per agent.
type AgentAccount struct {
	AgentID      connectors.AgentID
	AgentSlug    string
	AgentName    string
	AgentEnabled bool

	ConnectorID      connectors.ConnectorID
	ConnectorSlug    string
	ConnectorName    string
	CredentialURL    string // address of the server that gets the credential
	ConnectorEnabled bool
	AuthType         connectors.AuthType

	Bound []string // the accounts that the grant binds; empty: the owner's only one
	Name  string   // of the stored credential; empty: none stored
	Syncs bool     // syncs of the connector use it

	Type     connectors.AuthType         // of the stored credential; empty: none
	Status   connectors.CredentialStatus // empty: none stored
	Account  string                      // account name at the server; empty: unknown
	Identity connectors.Identity         // of an account of oauth2; zero: unknown
	Error    string                      // why it stopped working; empty: no failure known
	Said     *connectors.Upstream        // what the server said then; nil: nothing
	Since    *time.Time                  // when it was stored; nil: none stored
}

// IsStored reports whether an account or a secret is stored, usable or not.
func (a AgentAccount) IsStored() bool { return a.Status != "" }

// State returns the account's status; empty: none stored. A credential of another auth type than the
// connector's counts as dead.
func (a AgentAccount) State() connectors.CredentialStatus {
	if a.IsStored() && a.Type != a.AuthType {
		return connectors.CredentialRevoked
	}
	return a.Status
}

// IsUsable reports whether the account is stored and no failure is known.
func (a AgentAccount) IsUsable() bool {
	return a.Type == a.AuthType && (a.Status == connectors.CredentialActive || a.Status == connectors.CredentialRefreshFailed)
}

// AgentAccounts lists the stored and missing accounts of agents, by the names of agent and connector.
func (t Accounts) AgentAccounts(ctx context.Context, agents ...connectors.AgentID) ([]AgentAccount, error) {
	rows, err := t.q.AgentAccounts(ctx, t.id, agentUUIDs(agents), MaxAccounts)
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
			ConnectorID: r.ConnectorID, ConnectorSlug: r.Slug, ConnectorName: r.Name, CredentialURL: r.CredentialUrl, ConnectorEnabled: r.Enabled,
			Bound: grantAccounts(r.Bound), Name: r.AccountName, Syncs: r.Syncs, AuthType: r.AuthType, Type: connectors.AuthType(r.Type), Status: connectors.CredentialStatus(r.Status), Account: r.Account,
			Identity: decodeIdentity(r.Identity), Error: r.Error, Since: toUTC(since),
		}
		if r.Error != "" {
			all[i].Said = decodeUpstream(r.Upstream)
		}
	}
	return all, nil
}

func agentUUIDs(agents []connectors.AgentID) []uuid.UUID {
	all := make([]uuid.UUID, len(agents))
	for i, a := range agents {
		all[i] = a.UUID
	}
	return all
}

// AgentMember returns the member that owns a personal agent. It fails with NotFound if the tenant owns the
// agent.
func (t Accounts) AgentMember(ctx context.Context, agent connectors.AgentID) (connectors.Member, error) {
	whose, err := t.AgentsOfMembers(ctx, agent)
	if err != nil {
		return connectors.Member{}, err
	}
	m, ok := whose[agent]
	if !ok {
		return connectors.Member{}, newNotFound("member")
	}
	return m, nil
}

// AgentsOfMembers returns the owning member of each personal agent among agents.
func (t Accounts) AgentsOfMembers(ctx context.Context, agents ...connectors.AgentID) (map[connectors.AgentID]connectors.Member, error) {
	if len(agents) == 0 {
		return nil, nil
	}
	rows, err := t.q.AgentsOfMembers(ctx, t.id, agentUUIDs(agents))
	if err != nil {
		return nil, err
	}
	whose := make(map[connectors.AgentID]connectors.Member, len(rows))
	for _, r := range rows {
		whose[r.AgentID] = connectors.Member{UserID: r.ID, Email: r.Email, Name: r.Name, Role: r.Role, CreatedAt: r.CreatedAt.UTC()}
	}
	return whose, nil
}

// disableMemberAgents disables the personal agents of a leaving member, deletes their accounts and returns
// their slugs.
func (t *tenant) disableMemberAgents(ctx context.Context, user connectors.UserID) ([]string, error) {
	agents, err := t.q.DisableAgentsOfMember(ctx, t.id, user)
	if err != nil || len(agents) == 0 {
		return nil, err
	}
	var ids []connectors.AgentID
	var slugs []string
	for _, a := range agents {
		ids, slugs = append(ids, a.ID), append(slugs, a.Slug)
		err = t.notifyChange(err, "agent", a.ID)
	}
	at, err := t.q.DeleteCredentialsOfAgents(ctx, t.id, agentUUIDs(ids))
	for _, id := range at {
		err = t.notifyChange(err, "credential", id)
	}
	return slugs, err
}

// AccountRequest is a call that failed for a missing account and sent its client the page to connect one.
type AccountRequest struct {
	ID        connectors.AccountRequestID
	Connector connectors.ConnectorID
	Connected bool // an account was connected since
	Used      bool // the call continued
	ExpiresAt time.Time
}

// NewAccountRequest is an account request to store.
type NewAccountRequest struct {
	ID        connectors.AccountRequestID // of [NewAccountRequestID]; zero: a new one, so that it must not be stored again
	Agent     connectors.AgentID
	Connector connectors.ConnectorID
	Session   string // client session to notify when the account is connected; empty: the client polls
	Now       time.Time
	ExpiresAt time.Time
}

// MaxAccountRequests bounds the open requests of an agent. Expired requests count until the next one is stored.
const MaxAccountRequests = 100

// NewAccountRequestID returns the id of a request that may be stored more than once.
func NewAccountRequestID() connectors.AccountRequestID {
	return connectors.AccountRequestID{UUID: newID()}
}

// RequestAccount stores that a call misses an account. A repeated request of a session returns the same id, and
// a request with the id of a stored one changes nothing. It fails with RateLimited at [MaxAccountRequests].
func (t Accounts) RequestAccount(ctx context.Context, n NewAccountRequest) (id connectors.AccountRequestID, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.DeleteAccountRequests(ctx, tx.id, n.Agent, n.Now); err != nil {
			return err
		}
		id, err = tx.q.RenewAccountRequest(ctx, dbgen.RenewAccountRequestParams{
			TenantID: tx.id, AgentID: n.Agent, ConnectorID: n.Connector, Session: n.Session, ExpiresAt: n.ExpiresAt,
		})
		if !fault.Is(rowError(err, "request"), fault.NotFound) {
			return err
		}
		if id = n.ID; id == (connectors.AccountRequestID{}) {
			id = NewAccountRequestID()
		}
		open, err := tx.q.OpenAccountRequests(ctx, tx.id, n.Agent, id)
		if err != nil {
			return err
		}
		if open >= MaxAccountRequests {
			return fault.Errorf(fault.RateLimited, "This agent already has %d calls waiting for accounts.", open)
		}
		return tx.q.InsertAccountRequest(ctx, dbgen.InsertAccountRequestParams{
			TenantID: tx.id, ID: id, AgentID: n.Agent, ConnectorID: n.Connector, Session: n.Session, ExpiresAt: n.ExpiresAt,
		})
	})
	return id, err
}

// AccountRequest reads a request of an agent.
func (t Accounts) AccountRequest(ctx context.Context, agent connectors.AgentID, id connectors.AccountRequestID) (AccountRequest, error) {
	r, err := t.q.AccountRequest(ctx, t.id, id, agent)
	if err != nil {
		return AccountRequest{}, rowError(err, "request")
	}
	return AccountRequest{
		ID: r.ID, Connector: r.ConnectorID, Connected: r.ConnectedAt != nil, Used: r.UsedAt != nil, ExpiresAt: r.ExpiresAt.UTC(),
	}, nil
}

// UseAccountRequest marks a request as used. It fails with NotFound if it was used already or no account is
// connected.
func (t Accounts) UseAccountRequest(ctx context.Context, agent connectors.AgentID, id connectors.AccountRequestID, now time.Time) error {
	n, err := t.q.UseAccountRequest(ctx, dbgen.UseAccountRequestParams{TenantID: t.id, ID: id, AgentID: agent, Now: &now})
	return affectedError(n, err, "request")
}

// ConnectedRequests returns a session's requests with a connected account.
func (t Accounts) ConnectedRequests(ctx context.Context, agent connectors.AgentID, session string) ([]connectors.AccountRequestID, error) {
	return t.q.ConnectedRequests(ctx, t.id, agent, session)
}

// markAccountConnected marks and notifies the requests that waited for an agent's account.
func (t *tenant) markAccountConnected(ctx context.Context, connector connectors.ConnectorID, agent *connectors.AgentID) error {
	if agent == nil {
		return nil
	}
	n, err := t.q.ConnectAccountRequests(ctx, t.id, agent.UUID, connector)
	if err != nil || n == 0 {
		return err
	}
	return t.notifyChange(nil, NoticeAccount, agent)
}
