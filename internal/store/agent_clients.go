package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// NewAgentClient is a program that somebody lets be an agent, or act as themselves. The caller makes the id, because it is part of the code's text.
type NewAgentClient struct {
	ID          connectors.AgentClientID
	AgentID     *connectors.AgentID    // nil: it acts as its person
	Scope       connectors.ClientScope // of what its person may; empty: it is an agent
	BySSO       bool                   // its person had signed in at the tenant's provider
	UserID      connectors.UserID
	ClientID    string
	Name        string
	Host        string
	Resource    string
	RedirectURI string
	CodeMAC     []byte
	Challenge   []byte // SHA-256 of the PKCE verifier
	CodeLife    time.Duration
	Salt        []byte // of its refresh tokens
}

// HeldAgentClient is a program with what its code and its refresh token are recognised by.
type HeldAgentClient struct {
	NewAgentClient
	CreatedAt     time.Time
	CodeExpiresAt time.Time
	CodeUsedAt    *time.Time
	Generation    uint32    // of the refresh token that counts; 0: the code was not used yet
	RotatedAt     time.Time // when that came to be
	ExpiresAt     time.Time
	Now           time.Time // by the clock of the database, as all of these are
}

// ClientToken is an access token of a program.
type ClientToken struct {
	ID        connectors.AgentTokenID
	Prefix    string
	SecretMAC []byte
	ExpiresAt time.Time
}

// ClientsOf says whose programs are listed; the zero value: all of the tenant's.
type ClientsOf struct {
	Agent     *connectors.AgentID
	Person    *connectors.UserID
	AsMembers bool // those alone that act as the members who let them in
}

// mostAccessTokens are the access tokens that a program has at once: the newest, and those that it is about to forget.
const mostAccessTokens = 8

// CreateAgentClient stores a program, whose code nobody has come for yet.
func (t *Tenant) CreateAgentClient(ctx context.Context, n NewAgentClient) error {
	return t.q.CreateAgentClient(ctx, dbgen.CreateAgentClientParams{
		TenantID: t.id, ID: n.ID, AgentID: n.AgentID, Scope: scopeOf(n.Scope), BySso: n.BySSO, UserID: n.UserID, ClientID: clean(n.ClientID), ClientName: clean(n.Name), ClientHost: clean(n.Host),
		Resource: clean(n.Resource), RedirectUri: clean(n.RedirectURI), CodeMac: n.CodeMAC, Challenge: n.Challenge, CodeSeconds: n.CodeLife.Seconds(), Salt: n.Salt,
	})
}

func scopeOf(s connectors.ClientScope) *string {
	if s == "" {
		return nil
	}
	return new(string(s))
}

// AgentClients lists programs that may be agents, newest first.
func (t *Tenant) AgentClients(ctx context.Context, of ClientsOf, p Page) (List[connectors.AgentClient], error) {
	before, err := p.afterID("agent_clients")
	if err != nil {
		return List[connectors.AgentClient]{}, err
	}
	q := dbgen.AgentClientsParams{TenantID: t.id, AsMembers: of.AsMembers, BeforeID: before, MaxRows: p.rows()}
	if of.Agent != nil {
		q.AgentID = &of.Agent.UUID
	}
	if of.Person != nil {
		q.UserID = &of.Person.UUID
	}
	rows, err := t.q.AgentClients(ctx, q)
	if err != nil {
		return List[connectors.AgentClient]{}, err
	}
	return listOf(p, rows, agentClientOf, "agent_clients", func(r dbgen.AgentClientsRow) []string { return []string{r.ID.String()} }), nil
}

func agentClientOf(r dbgen.AgentClientsRow) connectors.AgentClient {
	return connectors.AgentClient{
		ID: r.ID, AgentID: r.AgentID, AgentSlug: r.AgentSlug, AgentName: r.AgentName, UserID: r.UserID, Email: r.Email, Person: r.UserName,
		ClientID: r.ClientID, Name: r.ClientName, Host: r.ClientHost, Resource: r.Resource, Scope: connectors.ClientScope(r.Scope), Redirect: r.RedirectUri,
		CreatedAt: r.CreatedAt.UTC(), UsedAt: r.UsedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
	}
}

// HoldAgentClient reads a program, in a transaction: whoever holds it next waits for its end.
func (t *Tenant) HoldAgentClient(ctx context.Context, id connectors.AgentClientID) (HeldAgentClient, error) {
	r, err := t.q.HoldAgentClient(ctx, t.id, id)
	if err != nil {
		return HeldAgentClient{}, found(err, "client")
	}
	held := HeldAgentClient{
		NewAgentClient: NewAgentClient{
			ID: r.ID, AgentID: r.AgentID, Scope: connectors.ClientScope(text(r.Scope)), BySSO: r.BySso, UserID: r.UserID, ClientID: r.ClientID, Name: r.ClientName, Host: r.ClientHost, Resource: r.Resource,
			RedirectURI: r.RedirectUri, CodeMAC: r.CodeMac, Challenge: r.Challenge, Salt: r.Salt,
		},
		CreatedAt: r.CreatedAt, CodeExpiresAt: r.CodeExpiresAt, Now: r.Now, CodeUsedAt: r.CodeUsedAt, Generation: uint32(r.Generation), ExpiresAt: r.ExpiresAt,
	}
	if r.RotatedAt != nil {
		held.RotatedAt = *r.RotatedAt
	}
	return held, nil
}

// SpendCode notes that a program's code was shown. One that was is NotFound.
func (t *Tenant) SpendCode(ctx context.Context, id connectors.AgentClientID, at time.Time) error {
	n, err := t.q.SpendCode(ctx, at, t.id, id)
	return touched(n, err, "code")
}

// RotateAgentClient makes the next refresh token the one that counts, until expires.
func (t *Tenant) RotateAgentClient(ctx context.Context, held HeldAgentClient, at, expires time.Time) error {
	n, err := t.q.RotateAgentClient(ctx, dbgen.RotateAgentClientParams{
		At: at, ExpiresAt: expires, TenantID: t.id, ID: held.ID, Generation: int32(held.Generation),
	})
	return touched(n, err, "client")
}

// CreateClientToken stores an access token of a program, and ends its older ones but for the last few.
func (t *Tenant) CreateClientToken(ctx context.Context, client connectors.AgentClientID, n ClientToken) error {
	err := t.q.CreateClientToken(ctx, dbgen.CreateClientTokenParams{
		TenantID: t.id, ID: n.ID.UUID, Prefix: n.Prefix, SecretMac: n.SecretMAC, ExpiresAt: n.ExpiresAt, AgentClientID: client.UUID,
	})
	if err != nil {
		return err
	}
	return t.dropClientTokens(ctx, client, mostAccessTokens)
}

func (t *Tenant) dropClientTokens(ctx context.Context, client connectors.AgentClientID, keep int32) error {
	gone, err := t.q.DropOldClientTokens(ctx, t.id, client.UUID, keep)
	for _, id := range gone {
		err = t.says(err, "token", id)
	}
	return err
}

// DropClientToken ends one access token of a program.
func (t *Tenant) DropClientToken(ctx context.Context, id connectors.AgentTokenID) error {
	n, err := t.q.DropClientToken(ctx, t.id, id)
	return t.says(touched(n, err, "token"), "token", id)
}

// DeleteAgentClient ends a program and all of its tokens.
func (t *Tenant) DeleteAgentClient(ctx context.Context, id connectors.AgentClientID) error {
	return t.within(ctx, func(tx *Tenant) error {
		if err := tx.dropClientTokens(ctx, id, 0); err != nil {
			return err
		}
		n, err := tx.q.DeleteAgentClient(ctx, tx.id, id)
		return touched(n, err, "client")
	})
}

// PersonalAgents lists the agents that a person made for programs of their own, by name; 100 at most.
func (t *Tenant) PersonalAgents(ctx context.Context, user connectors.UserID) ([]connectors.Agent, error) {
	rows, err := t.q.PersonalAgents(ctx, t.id, user)
	if err != nil {
		return nil, err
	}
	all := make([]connectors.Agent, len(rows))
	for i, r := range rows {
		all[i] = agentOf(r)
	}
	return all, nil
}

// IsPersonalAgent tells whether a person made an agent for programs of their own.
func (t *Tenant) IsPersonalAgent(ctx context.Context, user connectors.UserID, agent connectors.AgentID) (bool, error) {
	return t.q.IsPersonalAgent(ctx, t.id, user, agent)
}

// IsAgentOfPrograms tells whether an agent was made for a person's programs, or they have let one be it.
func (t *Tenant) IsAgentOfPrograms(ctx context.Context, user connectors.UserID, agent connectors.AgentID) (bool, error) {
	return t.q.IsAgentOfPrograms(ctx, t.id, user, agent)
}

// MakePersonal notes for whose programs an agent was made.
func (t *Tenant) MakePersonal(ctx context.Context, user connectors.UserID, agent connectors.AgentID) error {
	return t.q.AddPersonalAgent(ctx, t.id, agent, user)
}

// OfAgentClient is a program that may be an agent, without what its tokens are recognised by.
func OfAgentClient(id connectors.AgentClientID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return stateOf(t.q.AgentClientState(ctx, t.id, id))
	}
}

// NewAgentClientID names a program that somebody lets be an agent. It is shown in the code, and tells nothing.
func NewAgentClientID() connectors.AgentClientID { return connectors.AgentClientID{UUID: newID()} }

// NewAgentTokenID names an access token.
func NewAgentTokenID() connectors.AgentTokenID {
	return connectors.AgentTokenID{UUID: newID()}
}
