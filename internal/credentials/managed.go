package credentials

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// Bounds of managed accounts.
const (
	maxManagedServers = 1000             // cached answers
	unmanagedTTL      = 5 * time.Minute  // of the answer that a server takes no identity assertions
	unknownTTL        = 30 * time.Second // of a failed discovery
	subjectMargin     = 30 * time.Second // an ID token with less validity is not sent
	maxManagedLife    = time.Hour        // of a token: then the provider is asked again
)

// Reasons of an ended managed account. The member's next sign-in at the provider lets it request a token again.
const (
	reasonSignInEnded = "The member's sign-in at the organisation's provider has expired. Sign in to Patchbay again."
	reasonProvider    = "The organisation's sign-in provider refuses access to this server. Ask its administrator, then sign in to Patchbay again."
	reasonIdentity    = "The authorization server refuses the identity that the organisation's sign-in provider confirmed. Ask the server's operator."

	reasonProviderClient = "The organisation's sign-in provider doesn't let Patchbay's client request access to MCP servers. Ask its administrator."
)

// managedServerID names a connector's server in the cache of servers without managed accounts.
type managedServerID struct {
	tenant    connectors.TenantID
	connector connectors.ConnectorID
	url       string
	client    string
}

// canBeManaged reports whether an agent's missing account may be a managed one.
func (r *Resolver) canBeManaged(c connectors.Connector, owner *connectors.AgentID) bool {
	return r.oauth != nil && owner != nil && c.Auth.Type == connectors.AuthOAuth2 && c.Transport != connectors.TransportAPI
}

// addManagedAccount stores an account for an agent of a member with a sign-in at the organisation's provider, if the server takes
// identity assertions of providers and the account serves the caller (nil: any). Its first token is requested as that of any due
// grant. It fails with NotFound if there is none.
func (r *Resolver) addManagedAccount(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, agent connectors.AgentID, caller *connectors.Caller) (store.Grant, error) {
	accounts := r.store.Tenant(tenant).Accounts()
	member, err := accounts.ManagedMember(ctx, agent, c.ID)
	if err == nil && caller != nil && !servesCaller(agent, member, *caller) {
		err = fault.Errorf(fault.NotFound, "The server has no managed accounts.")
	}
	if err != nil {
		return store.Grant{}, err
	}
	meta, err := r.surveyManaged(ctx, tenant, c)
	if err != nil {
		return store.Grant{}, err
	}
	a := store.NewManagedAccount{ConnectorID: c.ID, AgentID: agent, Member: member, Origin: c.CredentialOrigin(), Meta: meta}
	if err := accounts.AddManagedAccount(ctx, a); err != nil {
		return store.Grant{}, err
	}
	return r.store.Vault(tenant).Grant(ctx, c.ID, &agent)
}

// surveyManaged returns what a managed account at the connector's server begins with; NotFound: it takes none.
func (r *Resolver) surveyManaged(ctx context.Context, tenant connectors.TenantID, c connectors.Connector) (store.GrantMeta, error) {
	unmanaged := fault.Errorf(fault.NotFound, "The server has no managed accounts.")
	key := managedServerID{tenant: tenant, connector: c.ID, url: c.URL, client: c.OAuth.ClientID}
	if r.now().Before(r.unmanaged.Get(key)) {
		return store.GrantMeta{}, unmanaged
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(safehttp.WithTenant(ctx, tenant.String()), machineTimeout)
	defer cancel()
	peer, _, err := r.findManagedPeer(ctx, tenant, c, "")
	if err == nil {
		return newManagedMeta(peer), nil
	}
	if caller.Err() != nil { // nothing is known about the server
		return store.GrantMeta{}, caller.Err()
	}
	life := unknownTTL
	failed, ok := errors.AsType[*oauth.Error](err)
	switch {
	case !ok:
		return store.GrantMeta{}, err
	case ctx.Err() != nil:
	case failed.Kind == oauth.KindNeedsClientID:
		life = unmanagedTTL
	default:
		r.log.InfoContext(ctx, "authorization server not read", slog.String("tenant_id", tenant.String()), slog.String("connector_id", c.ID.String()), slog.Any("error", err))
	}
	r.unmanaged.Put(key, r.now().Add(life))
	return store.GrantMeta{}, unmanaged
}

// findManagedPeer finds the authorization server and our client there, without its secret, and the scopes of its resource. It fails with
// KindNeedsClientID if the server takes no identity assertions, or none of a client without a person's consent.
func (r *Resolver) findManagedPeer(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, knownIssuer string,
) (oauth.Peer, *oauth.Discovery, error) {
	found, err := r.discoverServer(ctx, c, knownIssuer)
	if err != nil {
		return oauth.Peer{}, nil, err
	}
	server := found.Server
	if !server.AcceptsIdentityAssertions() {
		return oauth.Peer{}, nil, &oauth.Error{Step: oauth.StepAssertion, Kind: oauth.KindNeedsClientID, Detail: "it takes no identity assertions"}
	}
	if found.Resource == "" {
		// Without it the provider and the server could give us a token for another server, which this one then gets.
		return oauth.Peer{}, nil, &oauth.Error{Step: oauth.StepResource, Kind: oauth.KindRefused, Detail: "the server's metadata names no resource"}
	}
	client, err := r.findKnownClient(ctx, tenant, c, server)
	if err != nil {
		return oauth.Peer{}, nil, err
	}
	return oauth.Peer{Server: server, Client: client, Resource: found.Resource}, found, nil
}

// findKnownClient returns our client at an authorization server, without its secret: a client that others know by its id.
func (r *Resolver) findKnownClient(
	ctx context.Context, tenant connectors.TenantID, c connectors.Connector, server oauth.Metadata,
) (oauth.Registration, error) {
	own := oauth.Registration{ClientID: c.OAuth.ClientID}
	if own.ClientID != "" {
		if err := r.store.Vault(tenant).ClientSecretFits(ctx, c, server.Issuer); err != nil && !fault.Is(err, fault.NotFound) {
			return oauth.Registration{}, err
		}
	}
	server.RegistrationEndpoint = ""
	return r.oauth.Register(ctx, oauth.RegisterRequest{Server: server, Configured: own, DocumentURL: r.clientDocument})
}

// addClientSecret adds the secret of the connector's client, if it has one.
func (r *refreshRun) addClientSecret(ctx context.Context, peer *oauth.Peer) error {
	if peer.Client.Source != oauth.SourceConfigured {
		return nil
	}
	text, err := r.vault.ClientSecret(ctx, r.connector, peer.Server.Issuer)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	own := oauth.Registration{ClientID: peer.Client.ClientID, ClientSecret: oauth.Secret(text.Reveal())}
	peer.Client, err = r.oauth.Register(ctx, oauth.RegisterRequest{Server: peer.Server, Configured: own})
	return err
}

func newManagedMeta(p oauth.Peer) store.GrantMeta {
	return store.GrantMeta{Server: p.Server, ClientID: p.Client.ClientID, Resource: p.Resource, Source: p.Client.Source, Refreshable: true}
}

// requestManagedToken requests a token with a member's sign-in at the organisation's provider: an identity assertion for the
// authorization server, then a token for it. A refresh token is not kept: only the provider decides how long access lasts.
func (r *refreshRun) requestManagedToken(ctx context.Context, g store.Grant) (store.GrantTokens, error) {
	ctx, cancel := context.WithTimeout(ctx, machineTimeout)
	defer cancel()
	signIn, err := r.vault.ProviderSignIn(ctx, *g.Member)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return g.Tokens, err
	}
	subject, kind := chooseSubject(signIn.SSOTokens, r.now())
	if subject == "" {
		return g.Tokens, errSignInEnded()
	}
	if _, err := r.store.Tenant(r.tenant).Accounts().ManagedMember(ctx, *g.AgentID, g.ConnectorID); fault.Is(err, fault.NotFound) {
		return g.Tokens, errSharedAgent
	} else if err != nil {
		return g.Tokens, err
	}
	peer, found, err := r.findManagedPeer(ctx, r.tenant, r.connector, g.Tokens.Meta.Server.Issuer)
	if err != nil {
		return g.Tokens, err
	}
	if err := r.checkPinned(ctx, peer.Server.Issuer); err != nil {
		return g.Tokens, err
	}
	if err := r.addClientSecret(ctx, &peer); err != nil {
		return g.Tokens, err
	}
	if peer.Proof, err = proofKey(g.Tokens); err != nil {
		return g.Tokens, err
	}
	provider := oauth.Peer{
		Server: oauth.Metadata{Issuer: signIn.Issuer, TokenEndpoint: signIn.TokenEndpoint, TokenEndpointAuthMethods: signIn.AuthMethods},
		Client: oauth.Registration{
			Issuer: signIn.Issuer, ClientID: signIn.ClientID, ClientSecret: oauth.Secret(signIn.ClientSecret.Reveal()), Source: oauth.SourceConfigured,
		},
		Resource: peer.Resource,
	}
	request := oauth.IdentityRequest{
		Subject: subject, SubjectType: kind, Audience: peer.Server.Issuer, Scopes: managedScopes(r.connector, found, g.Tokens.Meta),
	}
	identity, err := r.oauth.ExchangeIdentity(ctx, provider, request)
	if failed, ok := errors.AsType[*oauth.Error](err); ok && failed.Kind == oauth.KindScope && len(r.connector.OAuth.Scopes) == 0 && request.Scopes != nil {
		request.Scopes = nil
		identity, err = r.oauth.ExchangeIdentity(ctx, provider, request)
	}
	if err != nil {
		return g.Tokens, hideResponse(err)
	}
	scopes := request.Scopes
	if identity.Scopes != nil {
		scopes = identity.Scopes
	}
	token, err := r.oauth.RedeemAssertion(ctx, peer, identity.Text, scopes)
	if err != nil {
		return g.Tokens, hideResponse(err)
	}
	return r.mergeManaged(g.Tokens, token, peer, scopes), nil
}

// checkPinned fails unless the authorization server is the connector's first one, or the one of its settings: the MCP server names it,
// and could get tokens for another server.
func (r *refreshRun) checkPinned(ctx context.Context, issuer string) error {
	confirmed := checkSameServer(r.connector.OAuth.Issuer, issuer) == nil && r.connector.OAuth.Issuer != ""
	pinned, err := r.store.Tenant(r.tenant).Accounts().PinManagedIssuer(ctx, r.connector.ID, issuer, confirmed)
	if err != nil || pinned == issuer {
		return err
	}
	return &oauth.Error{Step: oauth.StepServer, Kind: oauth.KindRefused, Detail: fmt.Sprintf(
		"members' accounts are at the authorization server %s, which is now %s; to confirm, an admin enters its issuer in the connector's settings", pinned, issuer)}
}

// managedScopes are the configured scopes, else those in the resource's metadata. A step-up adds only what either lists: no person
// sees it.
func managedScopes(c connectors.Connector, found *oauth.Discovery, meta store.GrantMeta) []string {
	known := slices.Concat(c.OAuth.Scopes, found.ResourceScopes)
	meta.WantedScopes = slices.DeleteFunc(slices.Clone(meta.WantedScopes), func(s string) bool { return !slices.Contains(known, s) })
	return scopesToRequest(c, found, meta)
}

func (r *Resolver) mergeManaged(tokens store.GrantTokens, t oauth.Token, peer oauth.Peer, scopes []string) store.GrantTokens {
	tokens = mergeToken(tokens, t)
	tokens.RefreshToken = ""
	if latest := r.now().Add(maxManagedLife); tokens.ExpiresAt == nil || tokens.ExpiresAt.IsZero() || tokens.ExpiresAt.After(latest) {
		tokens.ExpiresAt = &latest
	}
	if t.Scopes == nil {
		tokens.Scopes = scopes
	}
	meta := newManagedMeta(peer)
	meta.ExpiryAssumed, meta.WantedScopes, meta.StepUps = t.ExpiryAssumed, tokens.Meta.WantedScopes, tokens.Meta.StepUps
	tokens.Meta = meta
	return tokens
}

// chooseSubject returns the token that stands for the member at the provider: the ID token while it is valid, else the refresh
// token; empty: neither.
func chooseSubject(s store.SSOTokens, now time.Time) (oauth.Secret, oauth.SubjectType) {
	idToken := oauth.Secret(s.IDToken.Reveal())
	switch {
	case idToken != "" && now.Add(subjectMargin).Before(oauth.IdentityExpiry(idToken)):
		return idToken, oauth.SubjectIDToken
	case !s.RefreshToken.Empty():
		return oauth.Secret(s.RefreshToken.Reveal()), oauth.SubjectRefreshToken
	}
	return "", ""
}

// errSharedAgent means that others' programs may act as the member's agent.
var errSharedAgent = errors.New("others' programs may act as the agent")

// errSignInEnded is the failure of an account without a usable sign-in.
func errSignInEnded() error {
	return &oauth.Error{Step: oauth.StepIdentity, Kind: oauth.KindDead, Detail: "there is no valid sign-in at the provider"}
}

// classifyManaged decides by what refused: the provider's or the server's word about the member ends the account, and anything about
// our client or the requests is retried.
func classifyManaged(failed *oauth.Error) (refreshFailure, bool) {
	atProvider := failed.Step == oauth.StepIdentity
	switch {
	case atProvider && failed.Kind == oauth.KindDead && failed.HTTPStatus == 0:
		return refreshFailure{endReason: reasonSignInEnded}, true
	case atProvider && (failed.Kind == oauth.KindDead || failed.Kind == oauth.KindDenied || failed.Code == "invalid_target"):
		return refreshFailure{endReason: reasonProvider}, true
	case atProvider && failed.Code == "invalid_request":
		// RFC 8693 section 2.2.2: the sign-in is invalid or unacceptable. Some providers mean our client.
		return refreshFailure{delay: store.Delay{Because: reasonProvider, Wait: maxRetryDelay}}, true
	case atProvider && (failed.Kind == oauth.KindClient || failed.Kind == oauth.KindRejected || failed.Kind == oauth.KindScope):
		return refreshFailure{delay: store.Delay{Because: reasonProviderClient, Wait: maxRetryDelay}}, true
	case failed.Step == oauth.StepAssertion && (failed.Kind == oauth.KindDead || failed.Kind == oauth.KindDenied):
		return refreshFailure{endReason: reasonIdentity}, true
	case failed.Kind == oauth.KindClient || failed.Kind == oauth.KindNeedsClientID:
		return refreshFailure{delay: store.Delay{Because: failed.Sentence(), Wait: maxRetryDelay}}, true
	}
	return refreshFailure{}, false
}

// hideResponse removes what a server wrote: it may repeat the sign-in or the assertion, which are not stored with the connector.
func hideResponse(err error) error {
	if failed, ok := errors.AsType[*oauth.Error](err); ok {
		failed.Response, failed.ResponseCut = "", false
	}
	return err
}
