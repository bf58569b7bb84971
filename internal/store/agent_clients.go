package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// NewAgentClient is an OAuth client that acts as an agent or as a member. The caller makes the id because the
// code's text contains it.
type NewAgentClient struct {
	ID          connectors.AgentClientID
	AgentID     *connectors.AgentID    // nil: it acts as the member
	Scope       connectors.ClientScope // of a client that acts as a member; empty: it is an agent
	BySSO       bool                   // the member had signed in by single sign-on
	UserID      connectors.UserID
	ClientID    string
	Name        string
	Host        string
	Resource    string
	RedirectURI string
	CodeMAC     []byte
	Challenge   []byte // SHA-256 of the PKCE verifier
	CodeTTL     time.Duration
	Salt        []byte // of its refresh tokens
	Key         string // thumbprint of the key that it must prove (RFC 9449); empty: none
	NeedsProof  bool   // it gets bound tokens only
}

// LockedAgentClient is an OAuth client with the MACs of its code and refresh token, row locked.
type LockedAgentClient struct {
	NewAgentClient
	CreatedAt     time.Time
	CodeExpiresAt time.Time
	CodeUsedAt    *time.Time
	Generation    uint32    // of the valid refresh token; 0: the code is unused
	RotatedAt     time.Time // when Generation was issued
	ExpiresAt     time.Time
	Now           time.Time // database time, as all times here
}

// ClientToken is an access token of an OAuth client or a workload.
type ClientToken struct {
	ID        connectors.AgentTokenID
	Prefix    string
	SecretMAC []byte
	ExpiresAt time.Time
	Key       string // thumbprint of the key that it is bound to; empty: none
}

// AgentClientFilter selects OAuth clients. The zero value selects all of the tenant's.
type AgentClientFilter struct {
	Agent     *connectors.AgentID
	Person    *connectors.UserID
	AsMembers bool // only clients that act as members
}

// maxAccessTokens bounds the access tokens that a client keeps: the newest and a few older ones.
const maxAccessTokens = 8

// CreateClient stores a client with an unused authorization code.
func (t Agents) CreateClient(ctx context.Context, n NewAgentClient) error {
	err := t.q.CreateAgentClient(ctx, dbgen.CreateAgentClientParams{
		TenantID: t.id, ID: n.ID, AgentID: n.AgentID, Scope: nullableText(string(n.Scope)), BySso: n.BySSO, UserID: n.UserID, ClientID: cleanText(n.ClientID), ClientName: cleanText(n.Name), ClientHost: cleanText(n.Host),
		Resource: cleanText(n.Resource), RedirectUri: cleanText(n.RedirectURI), CodeMac: n.CodeMAC, Challenge: n.Challenge, CodeSeconds: n.CodeTTL.Seconds(), Salt: n.Salt,
		KeyThumbprint: nullableText(n.Key), DpopRequired: n.NeedsProof,
	})
	if err != nil || n.AgentID == nil {
		return err
	}
	return t.endManagedAccounts(ctx, *n.AgentID, &n.UserID)
}

// Clients lists OAuth clients, newest first.
func (t Agents) Clients(ctx context.Context, of AgentClientFilter, p Page) (List[connectors.AgentClient], error) {
	before, err := p.afterID("agent_clients")
	if err != nil {
		return List[connectors.AgentClient]{}, err
	}
	q := dbgen.AgentClientsParams{TenantID: t.id, AsMembers: of.AsMembers, BeforeID: before, MaxRows: p.rowLimit()}
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
	return newList(p, rows, toAgentClient, "agent_clients", func(r dbgen.AgentClientsRow) []string { return []string{r.ID.String()} }), nil
}

func toAgentClient(r dbgen.AgentClientsRow) connectors.AgentClient {
	return connectors.AgentClient{
		ID: r.ID, AgentID: r.AgentID, AgentSlug: r.AgentSlug, AgentName: r.AgentName, UserID: r.UserID, Email: r.Email, Person: r.UserName,
		ClientID: r.ClientID, Name: r.ClientName, Host: r.ClientHost, Resource: r.Resource, Scope: connectors.ClientScope(r.Scope), Redirect: r.RedirectUri,
		CreatedAt: r.CreatedAt.UTC(), UsedAt: r.UsedAt.UTC(), ExpiresAt: r.ExpiresAt.UTC(),
	}
}

// LockClient reads a client and locks its row until the transaction ends.
func (t Agents) LockClient(ctx context.Context, id connectors.AgentClientID) (LockedAgentClient, error) {
	r, err := t.q.LockAgentClient(ctx, t.id, id)
	if err != nil {
		return LockedAgentClient{}, rowError(err, "client")
	}
	locked := LockedAgentClient{
		NewAgentClient: NewAgentClient{
			ID: r.ID, AgentID: r.AgentID, Scope: connectors.ClientScope(textOrEmpty(r.Scope)), BySSO: r.BySso, UserID: r.UserID, ClientID: r.ClientID, Name: r.ClientName, Host: r.ClientHost, Resource: r.Resource,
			RedirectURI: r.RedirectUri, CodeMAC: r.CodeMac, Challenge: r.Challenge, Salt: r.Salt, Key: textOrEmpty(r.KeyThumbprint), NeedsProof: r.DpopRequired,
		},
		CreatedAt: r.CreatedAt, CodeExpiresAt: r.CodeExpiresAt, Now: r.Now, CodeUsedAt: r.CodeUsedAt, Generation: uint32(r.Generation), ExpiresAt: r.ExpiresAt,
	}
	if r.RotatedAt != nil {
		locked.RotatedAt = *r.RotatedAt
	}
	return locked, nil
}

// ConsumeCode marks a client's authorization code as used. It fails with NotFound if it was used already.
func (t Agents) ConsumeCode(ctx context.Context, id connectors.AgentClientID, at time.Time) error {
	n, err := t.q.ConsumeCode(ctx, at, t.id, id)
	return affectedError(n, err, "code")
}

// RotateClient increments the generation of the valid refresh token, which expires at expires.
func (t Agents) RotateClient(ctx context.Context, held LockedAgentClient, at, expires time.Time) error {
	n, err := t.q.RotateAgentClient(ctx, dbgen.RotateAgentClientParams{
		At: at, ExpiresAt: expires, TenantID: t.id, ID: held.ID, Generation: int32(held.Generation),
	})
	return affectedError(n, err, "client")
}

// CreateClientToken stores an access token of a client and deletes its oldest above the bound.
func (t Agents) CreateClientToken(ctx context.Context, client connectors.AgentClientID, n ClientToken) error {
	err := t.q.CreateClientToken(ctx, dbgen.CreateClientTokenParams{
		TenantID: t.id, ID: n.ID.UUID, Prefix: n.Prefix, SecretMac: n.SecretMAC, ExpiresAt: n.ExpiresAt, AgentClientID: client.UUID,
		KeyThumbprint: nullableText(n.Key),
	})
	if err != nil {
		return err
	}
	return t.dropClientTokens(ctx, client, maxAccessTokens)
}

func (t *tenant) dropClientTokens(ctx context.Context, client connectors.AgentClientID, keep int32) error {
	deleted, err := t.q.DeleteOldClientTokens(ctx, t.id, client.UUID, keep)
	for _, id := range deleted {
		err = t.notifyChange(err, "token", id)
	}
	return err
}

// DropClientToken deletes one access token of a client.
func (t Agents) DropClientToken(ctx context.Context, id connectors.AgentTokenID) error {
	n, err := t.q.DeleteClientToken(ctx, t.id, id)
	return t.notifyChange(affectedError(n, err, "token"), "token", id)
}

// DeleteClient deletes a client and all of its tokens.
func (t Agents) DeleteClient(ctx context.Context, id connectors.AgentClientID) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.dropClientTokens(ctx, id, 0); err != nil {
			return err
		}
		n, err := tx.q.DeleteAgentClient(ctx, tx.id, id)
		return affectedError(n, err, "client")
	})
}

// PersonalAgents lists the agents that a person made for their own clients, by name; at most 100.
func (t Agents) PersonalAgents(ctx context.Context, user connectors.UserID) ([]connectors.Agent, error) {
	rows, err := t.q.PersonalAgents(ctx, t.id, user)
	if err != nil {
		return nil, err
	}
	all := make([]connectors.Agent, len(rows))
	for i, r := range rows {
		all[i] = toAgent(r)
	}
	return all, nil
}

// IsPersonalAgent reports whether a person made the agent for their own clients.
func (t Agents) IsPersonalAgent(ctx context.Context, user connectors.UserID, agent connectors.AgentID) (bool, error) {
	return t.q.IsPersonalAgent(ctx, t.id, user, agent)
}

// IsAgentOfPrograms reports whether the agent is personal to the person or one of the person's clients acts as
// it.
func (t Agents) IsAgentOfPrograms(ctx context.Context, user connectors.UserID, agent connectors.AgentID) (bool, error) {
	return t.q.IsAgentOfClients(ctx, t.id, user, agent)
}

// MakePersonal makes a person the owner of an agent.
func (t Agents) MakePersonal(ctx context.Context, user connectors.UserID, agent connectors.AgentID) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.AddPersonalAgent(ctx, tx.id, agent, user); err != nil {
			return err
		}
		return tx.deleteExchangedAccounts(ctx, &agent.UUID)
	})
}

// OfAgentClient is an OAuth client, without the MACs of its tokens.
func OfAgentClient(id connectors.AgentClientID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		return toState(t.q.AgentClientState(ctx, t.id, id))
	}
}

// NewAgentClientID makes the id of a client. It is part of the code and holds no information.
func NewAgentClientID() connectors.AgentClientID { return connectors.AgentClientID{UUID: newID()} }

// NewAgentTokenID makes the id of an access token.
func NewAgentTokenID() connectors.AgentTokenID {
	return connectors.AgentTokenID{UUID: newID()}
}

// AgentOfClient returns the agent as which a client acts that signs a person in by identity assertions.
func (t SSO) AgentOfClient(ctx context.Context, user connectors.UserID, client string) (connectors.Agent, error) {
	row, err := t.q.AgentOfClient(ctx, t.id, user, cleanText(client))
	return toAgent(row), rowError(err, "agent")
}

// SetAgentOfClient makes a personal agent the one of [SSO.AgentOfClient].
func (t SSO) SetAgentOfClient(ctx context.Context, user connectors.UserID, agent connectors.AgentID, client string) error {
	n, err := t.q.SetAgentOfClient(ctx, dbgen.SetAgentOfClientParams{ClientID: cleanText(client), TenantID: t.id, UserID: user, AgentID: agent})
	return affectedError(n, err, "agent")
}
