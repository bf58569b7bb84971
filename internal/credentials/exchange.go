package credentials

import (
	"cmp"
	"context"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

// IssuersPath is the path above those of the tenants' issuers.
const IssuersPath = "/oauth/issuers/"

// Rotation of a tenant's signing keys. Authorization servers cache the published keys.
const (
	signingKeyLife = 30 * 24 * time.Hour
	signingKeyLead = time.Hour // for which a key is published before it signs, unless it is the only one
)

const (
	agentSubject = "agent:" // before an agent's id in claims: no agent is taken for a member

	reasonExchangeSubject = "The authorization server refuses the member or agent that Patchbay named. Ask its operator to trust the organisation's issuer, and check the member there."
	reasonExchangeClient  = "The authorization server doesn't let Patchbay's client exchange tokens. Check the client's ID and secret, and what its operator allows."
)

// isExchanged reports whether an agent's account at the connector comes from token exchange, unless a person connected one.
func (r *Resolver) isExchanged(c connectors.Connector, owner *connectors.AgentID) bool {
	return r.oauth != nil && owner != nil && c.Auth.Type == connectors.AuthOAuth2 && c.OAuth.TokenExchange != "" &&
		c.CredentialMode == connectors.CredentialPerAgent && c.Transport != connectors.TransportAPI
}

// isIssued reports whether no person connected the account: its tokens come from a member's sign-in or from token exchange.
func isIssued(g store.Grant) bool { return g.Member != nil || g.Tokens.Meta.Exchange != "" }

// findExchangedAccount returns the stored account g, or stores one without a token if there is none (err is NotFound) and it serves the
// caller (nil: a sync, which must not act in a member's name). It is its owner's account named default: a grant that binds another one
// means one that a person connected. Its first token is requested as that of any due grant. An ended account starts again when the reason
// is over, and one that an older release took for a managed account.
func (r *Resolver) findExchangedAccount(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account, caller *connectors.Caller, g store.Grant, err error,
) (store.Grant, error) {
	absent := fault.Is(err, fault.NotFound) && (of.Name == "" || of.Name == connectors.DefaultAccount)
	managed := err == nil && g.Member != nil && g.Tokens.Meta.Exchange == ""
	ended := err == nil && g.Tokens.Meta.Exchange != "" && g.Status == connectors.CredentialRevoked
	if !absent && !ended && !managed {
		return g, err
	}
	agent := *of.Agent
	accounts := r.store.Tenant(tenant).Accounts()
	subject, failed := accounts.ExchangeSubject(ctx, agent, c.ID)
	switch {
	case fault.Is(failed, fault.NotFound):
		return g, err
	case failed != nil:
		return g, failed
	case subject.Member != nil && (caller == nil || !servesCaller(agent, *subject.Member, *caller)):
		return g, err
	}
	a := store.NewExchangedAccount{Connector: c, AgentID: agent, Member: subject.Member, Meta: r.newExchangedMeta(c)}
	if ended || managed {
		if revived, failed := accounts.ReviveExchangedAccount(ctx, g.Credential, a); failed != nil || !revived {
			return g, cmp.Or(failed, err)
		}
	} else if err := accounts.AddExchangedAccount(ctx, a); err != nil {
		return g, err
	}
	return r.store.Vault(tenant).NamedGrant(ctx, c.ID, &agent, of.Name)
}

// checkIssue fails with NotFound for an account that the connector's present settings would not issue: an older release or a call that began
// with former settings may have stored it.
func (r *Resolver) checkIssue(c connectors.Connector, g store.Grant) error {
	exchanged, present := g.Tokens.Meta.Exchange != "", r.isExchanged(c, g.AgentID)
	switch {
	case exchanged && !present:
		return fault.Errorf(fault.NotFound, "The connector uses no token exchange.")
	case present && !exchanged && g.Member != nil:
		return fault.Errorf(fault.NotFound, "The connector uses token exchange.")
	default:
		return nil
	}
}

// wouldExchange reports whether the agent's token at the connector comes from token exchange: no person has connected an account.
func (r *Resolver) wouldExchange(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, of Account) (bool, error) {
	owner, ok := credentialOwner(c, of.Agent)
	if !ok || !r.isExchanged(c, owner) {
		return false, nil
	}
	g, err := r.store.Vault(tenant).NamedGrant(ctx, c.ID, owner, of.Name)
	switch {
	case fault.Is(err, fault.NotFound):
		return of.Name == "" || of.Name == connectors.DefaultAccount, nil
	case fault.Is(err, fault.Conflict): // several, and none of them is named
		return false, nil
	default:
		return err == nil && isIssued(g), err
	}
}

// RequestsForCallsOnly reports whether a sync got a token that names a member, so that it must not request another one.
func (u *Credential) RequestsForCallsOnly() bool {
	return u.forSync && u.member != nil && u.meta.Exchange != ""
}

// namesMember reports whether a new token of the grant takes an assertion of a member: only for that member's calls.
func namesMember(g store.Grant) bool { return g.Member != nil && g.Tokens.Meta.Exchange != "" }

func (r *Resolver) newExchangedMeta(c connectors.Connector) store.GrantMeta {
	return store.GrantMeta{
		Exchange: c.OAuth.TokenExchange, Refreshable: true, Server: oauth.Metadata{Issuer: c.OAuth.Issuer}, ClientID: cmp.Or(c.OAuth.ClientID, r.clientDocument),
	}
}

// requestExchangedToken requests a token by token exchange (RFC 8693). Its subject is the member that the agent belongs to now, else the
// agent. A refresh token is not kept: each token asks anew.
func (r *refreshRun) requestExchangedToken(ctx context.Context, g store.Grant) (store.GrantTokens, error) {
	ctx, cancel := context.WithTimeout(ctx, machineTimeout)
	defer cancel()
	if !r.isExchanged(r.connector, g.AgentID) {
		return g.Tokens, fault.Errorf(fault.Conflict, "The connector uses no token exchange.")
	}
	if _, err := r.findSubject(ctx, g); err != nil { // before any request
		return g.Tokens, err
	}
	peer, err := r.findExchangePeer(ctx)
	if err != nil {
		return g.Tokens, err
	}
	if err := r.addClientSecret(ctx, &peer); err != nil {
		return g.Tokens, err
	}
	if peer.Proof, err = proofKey(g.Tokens); err != nil {
		return g.Tokens, err
	}
	// Only an owner chooses scopes: the MCP server could ask for any, and no person sees them.
	request := oauth.ExchangeRequest{Scopes: r.connector.OAuth.Scopes}
	token, err := r.signAndExchange(ctx, peer, request, g)
	if err != nil {
		return g.Tokens, hideResponse(err)
	}
	tokens := r.mergeManaged(g.Tokens, token, peer, request.Scopes)
	tokens.Meta.Exchange = r.connector.OAuth.TokenExchange
	return tokens, nil
}

// findSubject returns the subject of the grant's next token. It fails if the connector or the agent has changed since.
func (r *refreshRun) findSubject(ctx context.Context, g store.Grant) (subject store.ExchangeSubject, err error) {
	err = r.store.Tenant(r.tenant).Snapshot(ctx, func(tx *store.Tenant) error {
		if err := r.checkUnchanged(ctx, tx); err != nil {
			return err
		}
		subject, err = tx.Accounts().ExchangeSubject(ctx, *g.AgentID, g.ConnectorID)
		if fault.Is(err, fault.NotFound) || err == nil && !isSameMember(subject.Member, g.Member) {
			return errSharedAgent
		}
		return err
	})
	return subject, err
}

func isSameMember(a, b *connectors.UserID) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// checkUnchanged fails if the connector's settings have changed so that its tokens end: an admin may have just distrusted the server.
func (r *refreshRun) checkUnchanged(ctx context.Context, tx *store.Tenant) error {
	now, err := tx.Connectors().Get(ctx, connectors.Ref(r.connector.ID.String()))
	if err == nil && connectors.EndsExchangedAccounts(r.connector, now) {
		err = fault.Errorf(fault.Conflict, "The connector's settings have just changed. Try again.")
	}
	return err
}

// findExchangePeer finds the authorization server, which the connector names: the MCP server cannot choose it, nor the resource.
func (r *refreshRun) findExchangePeer(ctx context.Context) (oauth.Peer, error) {
	c := r.connector
	if c.OAuth.Issuer == "" || c.OAuth.TokenEndpoint != "" || c.OAuth.Resource != nil {
		return oauth.Peer{}, fault.Errorf(fault.Conflict, "With token exchange, the connector names the issuer, and all else comes from metadata.")
	}
	found, err := r.discoverServer(ctx, c, "")
	if err != nil {
		return oauth.Peer{}, err
	}
	switch server := found.Server; {
	case server.Assumed || checkSameServer(c.OAuth.Issuer, server.Issuer) != nil:
		return oauth.Peer{}, fault.Errorf(fault.Conflict, "With token exchange, the authorization server needs metadata.")
	case !server.ListsTokenExchange():
		return oauth.Peer{}, fault.Errorf(fault.Conflict, "The authorization server's metadata doesn't list token exchange (%s) in grant_types_supported.", oauth.GrantTokenExchange)
	case found.Resource == "": // else the token could be for another server, which this one then gets
		return oauth.Peer{}, fault.Errorf(fault.Conflict, "With token exchange, the server's metadata needs to name its resource.")
	case strings.TrimSuffix(found.Resource, "/") != strings.TrimSuffix(c.URL, "/"): // the token would be good at other servers of the host
		return oauth.Peer{}, fault.Errorf(fault.Conflict, "With token exchange, the server's metadata needs to name the connector's URL as its resource, not %s.", found.Resource)
	}
	client, err := r.findKnownClient(ctx, r.tenant, c, found.Server)
	return oauth.Peer{Server: found.Server, Client: client, Resource: found.Resource}, err
}

// signAndExchange signs new assertions for the authorization server alone, and sends them to its token endpoint. What came before took a
// while, so it asks again what they may say.
func (r *refreshRun) signAndExchange(
	ctx context.Context, peer oauth.Peer, request oauth.ExchangeRequest, g store.Grant,
) (oauth.Token, error) {
	if r.issuers == "" {
		return oauth.Token{}, fault.Errorf(fault.Conflict, "Token exchange needs the address of Patchbay.")
	}
	key, err := r.findSigningKey(ctx)
	if err != nil {
		return oauth.Token{}, err
	}
	subject, err := r.findSubject(ctx, g)
	if err != nil {
		return oauth.Token{}, err
	}
	actor := oauth.PartyAssertion{Issuer: r.issuers + r.tenant.String(), Subject: agentSubject + g.AgentID.String(), Audience: peer.Server.Issuer}
	person := actor
	person.ActorComes = r.connector.OAuth.TokenExchange == connectors.ExchangeActorToken
	if subject.Member != nil {
		person.Subject, person.Email = memberSubject(r.tenant, *subject.Member), subject.Email
	}
	person.Actor = actor.Subject
	if request.Subject, err = key.Sign(person, r.now()); err != nil {
		return oauth.Token{}, err
	}
	if person.ActorComes {
		if request.Actor, err = key.Sign(actor, r.now()); err != nil {
			return oauth.Token{}, err
		}
	}
	return r.oauth.ExchangeToken(ctx, peer, request)
}

// memberSubject is how claims name a member. A person in two organisations has the same ID in both, and is two subjects.
func memberSubject(tenant connectors.TenantID, member connectors.UserID) string {
	return tenant.String() + ":" + member.String()
}

// findSigningKey opens the newest key that has been published for a while, else the oldest.
func (r *refreshRun) findSigningKey(ctx context.Context) (*oauth.SigningKey, error) {
	ensured := EnsureSigningKey(ctx, r.store, r.tenant, r.now())
	keys, _, err := r.vault.SigningKeys(ctx)
	if ensured != nil && (err != nil || len(keys) == 0) { // with a key, a later call makes the next one
		return nil, ensured
	}
	if err == nil && len(keys) == 0 {
		err = fault.Errorf(fault.Unavailable, "The organisation has no readable signing key. Try again.")
	}
	if err != nil {
		return nil, err
	}
	var chosen store.SigningKey
	for _, chosen = range keys {
		if r.now().Sub(chosen.CreatedAt) >= signingKeyLead {
			break
		}
	}
	return oauth.ParseSigningKey(chosen.ID.String(), oauth.Secret(chosen.Private.Reveal()))
}

// exchangeReason is the sentence of a failed token exchange. It never ends the account: what refuses is outside of Patchbay, and the
// next call asks again.
func exchangeReason(failed *oauth.Error) string {
	if failed.Step != oauth.StepTokenExchange {
		return failed.Sentence()
	}
	switch failed.Kind {
	case oauth.KindDead, oauth.KindDenied:
		return reasonExchangeSubject
	case oauth.KindClient, oauth.KindNeedsClientID:
		return reasonExchangeClient
	}
	return failed.Sentence()
}

func exchangeDelay(failed *oauth.Error) time.Duration {
	if failed.Kind == oauth.KindTemporary {
		return min(max(failed.RetryAfter, 2*time.Second), maxRetryDelay)
	}
	return maxRetryDelay
}
