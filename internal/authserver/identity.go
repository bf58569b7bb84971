package authserver

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	josejson "github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/middleware"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// identityType is the typ of an identity assertion (ID-JAG). No other JWT has it.
const identityType = "oauth-id-jag+jwt"

// maxIdentityLife bounds exp - iat: an assertion serves one request.
const maxIdentityLife = time.Hour

// identityClaims are the claims in use of an identity assertion (draft-ietf-oauth-identity-assertion-authz-grant section 3).
type identityClaims struct {
	jwt.Claims
	ClientID string  `json:"client_id"`
	Resource string  `json:"resource"`
	Scope    *string `json:"scope"`

	Confirmation *confirmation `json:"cnf"` // nil: the assertion is bound to no key
}

// errWrongIdentity is the answer to any wrong assertion and to an unknown person. The log has the reason.
func errWrongIdentity() error {
	return invalidGrant("this identity assertion is for another client or server, unknown, expired or used before")
}

// isIdentityAssertion reports whether a JWT claims to be an identity assertion.
func isIdentityAssertion(text string) bool {
	if len(text) > maxAssertion {
		return false
	}
	signed, err := jws.Parse(text)
	return err == nil && isIdentityType(signed)
}

func isIdentityType(signed *jose.JSONWebSignature) bool {
	typ, _ := signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType].(string)
	return strings.TrimPrefix(typ, "application/") == identityType
}

// signedIdentity is a parsed identity assertion, not yet verified.
type signedIdentity struct {
	signed *jose.JSONWebSignature
	claims identityClaims
	text   string
	proof  *jws.Proof // of the request; nil: none
}

// exchangeIdentity signs a member in for a client with an identity assertion of the tenant's provider (RFC 7523), and issues an access
// token of the member's agent for this client.
//
//  1. The claims are compared first: nothing is read or fetched for an assertion that is wrong anyway.
//  2. Issuer and subject lead to a member of a tenant that lets this provider sign its members in.
//  3. The provider's keys verify the signature. Only then the client is looked up.
//  4. The rules are those of the consent screen, with the member's own agent of this client as the choice.
func (s *Server) exchangeIdentity(ctx context.Context, f url.Values, proof *jws.Proof) (tokenResponse, error) {
	resource, ok := s.parseResource(f.Get("resource"))
	if !ok || resource == adminPath {
		return tokenResponse{}, &oauthError{Code: "invalid_target", Description: "identity assertions are for the gateway only"}
	}
	given, ok := parseIdentity(f.Get("assertion"))
	if !ok {
		return tokenResponse{}, errWrongIdentity()
	}
	given.proof = proof
	if !given.claims.Confirmation.permitsProof(proof) {
		return tokenResponse{}, s.refuseIdentity(ctx, given.claims, "bound to another key")
	}
	if claimed, ok := s.parseResource(given.claims.Resource); given.claims.Resource != "" {
		if !ok || claimed == adminPath || f.Has("resource") && claimed != resource {
			return tokenResponse{}, s.refuseIdentity(ctx, given.claims, "another resource")
		}
		resource = claimed
	}
	if why := s.checkIdentity(given.claims, f.Get("client_id")); why != "" {
		return tokenResponse{}, s.refuseIdentity(ctx, given.claims, why)
	}
	subject := store.SSOSubject{Issuer: given.claims.Issuer, ID: given.claims.Subject}
	tenant, user, err := s.store.System().Sessions().AssertedMember(ctx, subject)
	switch {
	case fault.Is(err, fault.NotFound):
		return tokenResponse{}, s.refuseIdentity(ctx, given.claims, "unknown issuer or subject")
	case err != nil:
		return tokenResponse{}, err
	}
	keys, err := s.keySets.findKeys(ctx, keySetID{tenant: tenant, issuer: subject.Issuer}, given.signed.Signatures[0].Protected.KeyID)
	if err != nil {
		return tokenResponse{}, err
	}
	if !isSignedBy(given.signed, keys) {
		return tokenResponse{}, s.refuseIdentity(ctx, given.claims, "unknown key or wrong signature")
	}
	wait, giveBack := s.signIns.Take(user, s.now())
	if wait > 0 {
		return tokenResponse{}, middleware.NewRateLimitError(wait, "too many token requests of this person: tokens are valid for an hour")
	}
	client, err := s.findClient(ctx, given.claims.ClientID)
	if err != nil {
		giveBack()
		return tokenResponse{}, err
	}
	return s.admitIdentity(ctx, tenant, user, client, given, resource)
}

func parseIdentity(text string) (signedIdentity, bool) {
	if len(text) > maxAssertion {
		return signedIdentity{}, false
	}
	signed, err := jws.Parse(text)
	if err != nil || !isIdentityType(signed) {
		return signedIdentity{}, false
	}
	given := signedIdentity{signed: signed, text: text}
	err = josejson.Unmarshal(signed.UnsafePayloadWithoutVerification(), &given.claims)
	return given, err == nil
}

func isSignedBy(signed *jose.JSONWebSignature, keys []jose.JSONWebKey) bool {
	alg := jose.SignatureAlgorithm(signed.Signatures[0].Protected.Algorithm)
	return slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool {
		if !jws.IsKeyFor(key, alg) {
			return false
		}
		_, err := signed.Verify(key.Key)
		return err == nil
	})
}

// checkIdentity compares the claims with the client that sent them, this server and the time. It describes what is wrong.
func (s *Server) checkIdentity(c identityClaims, client string) string {
	now := s.now()
	switch {
	case c.Issuer == "" || c.Subject == "":
		return "no issuer or subject"
	case len(c.Audience) != 1 || c.Audience[0] != s.issuer:
		return "another audience (aud)"
	case c.ClientID == "" || c.ClientID != client:
		return "another client (client_id)"
	case c.ID == "" || len(c.ID) > 1000:
		return "no name of its own (jti)"
	case c.Expiry == nil || c.IssuedAt == nil:
		return "no expiry or time (exp, iat)"
	case !c.Expiry.Time().After(now):
		return "expired (exp)"
	case c.IssuedAt.Time().After(now.Add(assertionLeeway)):
		return "from the future (iat)"
	case c.NotBefore != nil && c.NotBefore.Time().After(now.Add(assertionLeeway)):
		return "not yet valid (nbf)"
	case c.Expiry.Time().After(c.IssuedAt.Time().Add(maxIdentityLife)):
		return "valid for more than an hour (exp)"
	case c.Scope != nil && !slices.Contains(strings.Fields(*c.Scope), Scope):
		return "another scope"
	}
	return ""
}

func (s *Server) refuseIdentity(ctx context.Context, c identityClaims, why string) error {
	s.log.InfoContext(ctx, "identity assertion refused", slog.String("issuer_host", hostFor(c.Issuer)), slog.String("reason", why))
	return errWrongIdentity()
}

// admitIdentity records the use of an assertion and issues its token in one transaction.
func (s *Server) admitIdentity(
	ctx context.Context, tenant connectors.TenantID, user connectors.UserID, client Client, given signedIdentity, resource string,
) (tokenResponse, error) {
	in := identitySignIn{Server: s, client: client, given: given, resource: resource}
	var decision tokenDecision
	for n := 1; ; n++ {
		err := s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) (err error) {
			decision, err = in.decideMember(ctx, tx, user, n)
			return err
		})
		switch {
		case isSlugFault(err) && n <= 9:
			continue
		case fault.Is(err, fault.NotFound): // the member has just been removed
			return tokenResponse{}, errWrongIdentity()
		case fault.Is(err, fault.Denied), fault.Is(err, fault.Conflict):
			return tokenResponse{}, invalidGrant(strings.ToLower(fault.As(err).Message))
		case err != nil:
			return tokenResponse{}, err
		case decision.refusal != nil:
			return tokenResponse{}, decision.refusal
		}
		return decision.given, nil
	}
}

// identitySignIn is the sign-in of a member by one assertion.
type identitySignIn struct {
	*Server
	client   Client
	given    signedIdentity
	resource string
}

// decideMember issues the token, as the consent screen and the exchange of its code would. A refusal is committed with the use of the
// assertion.
func (i identitySignIn) decideMember(ctx context.Context, tx *store.Tenant, user connectors.UserID, n int) (tokenDecision, error) {
	m, err := tx.People().Member(ctx, user)
	if err != nil {
		return tokenDecision{}, err
	}
	self, err := tx.Self(ctx)
	if err != nil {
		return tokenDecision{}, err
	}
	a := auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: m.Role, UserID: &m.UserID, Name: m.DisplayName(), Email: m.Email, BySSO: true}
	client, err := i.newClient(m.UserID)
	if err != nil {
		return tokenDecision{}, err
	}
	if refused, err := useProof(ctx, tx, i.given.proof, i.client.NeedsProof); err != nil || refused != nil {
		return tokenDecision{refusal: refused}, err
	}
	used := newAssertion(i.given.text, i.given.signed.UnsafePayloadWithoutVerification(), i.given.claims.Claims)
	earlier, err := tx.Workloads().UseAssertion(ctx, store.AssertionUse{
		Digest: used.digest[:], Hash: used.hash[:], Workload: connectors.AgentWorkloadID(client.ID), Token: store.NewAgentTokenID(), At: i.now(), ExpiresAt: used.expiresAt,
	})
	if err != nil || earlier != nil {
		return i.recordReplay(ctx, tx, a, earlier, err)
	}
	if err := checkMayAllow(a); err != nil {
		return newInvalidGrant("the person may not use clients here"), nil //nolint:nilerr // the use is committed
	}
	today, err := tx.People().ProgramOwner(ctx, user)
	if err != nil {
		return tokenDecision{}, err
	}
	if why := i.auth.EndReason(auth.ClientAuthorization{At: i.now(), BySSO: true}, today, i.now()); why != "" {
		return newInvalidGrant("the person may not use clients here: " + why), nil
	}
	agent, err := i.findAgent(ctx, tx, a, n)
	if err != nil {
		return tokenDecision{}, err
	}
	client.AgentID = &agent.ID
	token, err := i.issueToken(ctx, tx, client)
	if err != nil {
		return tokenDecision{}, err
	}
	e := a.Event("agent_client.allow", agent.Slug)
	e.Detail = auditDetail(client)
	e.Detail["by"], e.Detail["issuer"], e.Detail["subject"] = "identity assertion", i.given.claims.Issuer, i.given.claims.Subject
	return tokenDecision{given: tokenResponse{
		Access: token.Text().Reveal(), Type: tokenType(client.Key), ExpiresIn: int(accessLife.Seconds()), Scope: Scope,
	}}, tx.RecordChange(ctx, e, nil, store.OfAgentClient(client.ID))
}

// issueToken stores a client with its only access token. The client lives as long as the token.
func (i identitySignIn) issueToken(ctx context.Context, tx *store.Tenant, client store.NewAgentClient) (secret.Bearer, error) {
	if err := tx.Agents().CreateClient(ctx, client); err != nil {
		return secret.Bearer{}, err
	}
	locked, err := tx.Agents().LockClient(ctx, client.ID)
	if err != nil {
		return secret.Bearer{}, err
	}
	if err := tx.Agents().ConsumeCode(ctx, locked.ID, locked.Now); err != nil {
		return secret.Bearer{}, err
	}
	until := locked.Now.Add(accessLife)
	if err := tx.Agents().RotateClient(ctx, locked, locked.Now, until); err != nil {
		return secret.Bearer{}, err
	}
	return i.createAccessToken(ctx, tx, locked, until)
}

// newClient is a client row for one access token. Its code and refresh tokens are never given to anyone.
func (i identitySignIn) newClient(user connectors.UserID) (store.NewAgentClient, error) {
	random := make([]byte, 96)
	if _, err := rand.Read(random); err != nil {
		return store.NewAgentClient{}, err
	}
	return store.NewAgentClient{
		ID: store.NewAgentClientID(), UserID: user, ClientID: i.client.ID, Name: i.client.Name, Host: i.client.Host, Resource: i.resource,
		RedirectURI: i.given.claims.Issuer, BySSO: true, CodeMAC: random[:32], Challenge: random[32:64], CodeTTL: time.Second, Salt: random[64:],
		Key: keyOf(i.given.proof), NeedsProof: i.client.NeedsProof,
	}, nil
}

// findAgent returns the member's agent for this client. The first time it is a new personal agent without grants, as on the consent
// screen.
func (i identitySignIn) findAgent(ctx context.Context, tx *store.Tenant, a auth.Actor, n int) (connectors.Agent, error) {
	agent, err := tx.SSO().AgentOfClient(ctx, *a.UserID, i.client.ID)
	if !fault.Is(err, fault.NotFound) {
		return agent, err
	}
	if agent, err = i.makeAgent(ctx, tx, a, i.client.Name, n); err != nil {
		return agent, err
	}
	return agent, tx.SSO().SetAgentOfClient(ctx, *a.UserID, agent.ID, i.client.ID)
}

// recordReplay audits the refusal of a used assertion, once for each.
func (i identitySignIn) recordReplay(ctx context.Context, tx *store.Tenant, a auth.Actor, earlier *store.AssertionUse, err error) (tokenDecision, error) {
	if err != nil {
		return tokenDecision{}, err
	}
	refused := newInvalidGrant("this identity assertion is for another client or server, unknown, expired or used before")
	first, err := tx.Workloads().RefuseAssertion(ctx, *earlier)
	if err != nil || !first {
		return refused, err
	}
	e := a.Event("sso.refuse", i.given.claims.Issuer)
	e.Detail = map[string]any{"reason": "assertion-replay", "subject": i.given.claims.Subject, "client_id": i.client.ID}
	return refused, tx.Audit().Record(ctx, e)
}
