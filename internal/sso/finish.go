package sso

import (
	"context"
	"crypto/subtle"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Return is a callback from a provider.
type Return struct {
	Query     url.Values
	Browser   Browser     // from its cookie; empty: none
	Person    *auth.Actor // signed-in actor; nil: none
	Address   string      // for the audit log
	RequestID string
}

// Finished is the result of a sign-in.
type Finished struct {
	Tenant   connectors.Tenant
	User     connectors.UserID // start a session for this user
	ReturnTo string
	Trial    *Trial // an owner tested the settings, without a session

	Confirmed bool // the signed-in person re-authenticated, without a new session
}

// Trial is what a provider reported about the testing owner.
type Trial struct {
	Email   string
	Covered bool // the address is in a verified domain
	Groups  []string
	Role    connectors.Role // role of a sign-in; empty: no access
}

// Finish completes a sign-in. The error has a sentence; without a flow of this browser it reveals nothing else.
func (s *Service) Finish(ctx context.Context, r Return) (Finished, error) {
	own, ok := readState(r.Query.Get("state"), r.Browser)
	if !ok {
		return Finished{}, errNotBegun()
	}
	begun, err := s.store.Tenant(own.tenant).SSO().Take(ctx, own.id, own.browserHash())
	if fault.Is(err, fault.NotFound) {
		return Finished{}, errNotBegun()
	}
	if err != nil {
		return Finished{}, err
	}
	tenant, err := s.store.Tenant(own.tenant).Self(ctx)
	if err != nil {
		return Finished{}, err
	}
	who := &identity{}
	done, err := s.finishSignIn(ctx, r, own, begun, who)
	if err != nil {
		return Finished{Confirmed: begun.Confirms != nil, ReturnTo: begun.ReturnTo}, s.recordRefusal(ctx, r, tenant, begun, who, err)
	}
	done.Tenant, done.ReturnTo = tenant, begun.ReturnTo
	return done, nil
}

func (s *Service) finishSignIn(ctx context.Context, r Return, own flowSecret, begun store.SSOFlow, who *identity) (Finished, error) {
	ctx, cancel := context.WithTimeout(ctx, providerTimeout)
	defer cancel()
	ctx = safehttp.WithTenant(ctx, own.tenant.String())
	settings, err := s.recheckSettings(ctx, r, own, begun)
	if err != nil {
		return Finished{}, err
	}
	p, err := s.discoverProvider(ctx, own.tenant, settings.Issuer)
	if err != nil {
		return Finished{}, err
	}
	code, err := readCallback(r.Query, settings.Issuer, p)
	if err != nil {
		return Finished{}, err
	}
	if *who, err = s.exchangeCode(ctx, p, settings, own, begun, code); err != nil {
		return Finished{}, err
	}
	if begun.Confirms != nil {
		return Finished{Confirmed: true, User: *r.Person.UserID}, s.checkSamePerson(ctx, own.tenant, *r.Person, *who)
	}
	if begun.Tester != nil {
		return s.recordTest(ctx, *r.Person, settings, *who)
	}
	if !settings.Covers(who.Email) {
		return Finished{}, errForeignAddress()
	}
	m, err := s.admitMember(ctx, r, own.tenant, settings, *who)
	return Finished{User: m.UserID}, err
}

// recheckSettings returns the settings if the flow was started with them.
func (s *Service) recheckSettings(ctx context.Context, r Return, own flowSecret, begun store.SSOFlow) (connectors.SSO, error) {
	settings, err := s.store.Tenant(own.tenant).SSO().Get(ctx)
	switch {
	case err != nil:
		return settings, err
	case s.now().After(begun.ExpiresAt):
		return settings, newRefusal("sso-late", fault.Denied, "The sign-in took more than ten minutes. Start again.")
	case settings.Issuer != begun.Issuer || settings.ClientID != begun.ClientID || begun.Tester == nil && !settings.Enabled:
		return settings, errChanged()
	case begun.Confirms != nil && (r.Person == nil || r.Person.Session != *begun.Confirms || r.Person.Tenant.ID != own.tenant):
		return settings, newRefusal("sso-confirms", fault.Denied, "The person who started this is no longer signed in. Sign in and start again.")
	case begun.Tester != nil && !isTester(r.Person, own.tenant, *begun.Tester):
		return settings, newRefusal("sso-tester", fault.Denied, "The person who started this test is no longer signed in. Sign in and test again.")
	}
	return settings, nil
}

func errChanged() error {
	return newRefusal("sso-changed", fault.Denied, "Single sign-on changed while you signed in. Start again.")
}

// isTester reports whether the actor is the owner that began the test.
func isTester(a *auth.Actor, tenant connectors.TenantID, tester connectors.UserID) bool {
	return a != nil && a.UserID != nil && *a.UserID == tester && a.Tenant.ID == tenant && a.Role.May(connectors.PermOwn)
}

// readCallback returns the code of a callback (OpenID Connect Core section 3.1.2.5, RFC 9207 section 2.4).
func readCallback(q url.Values, issuer string, p *provider) (string, error) {
	if iss := q.Get("iss"); iss != issuer && (q.Has("iss") || p.meta.IssParameter) {
		return "", newRefusal("sso-iss", fault.Denied, "The response came from another provider. Start again.")
	}
	if failure := q.Get("error"); failure != "" {
		return "", newProviderError(issuer, failure)
	}
	if code := q.Get("code"); code != "" && len(q["code"]) == 1 {
		return code, nil
	}
	return "", newRefusal("sso-answer", fault.Upstream, "The provider sent you back without an answer. Start again.")
}

// exchangeCode exchanges a code for an identity.
func (s *Service) exchangeCode(ctx context.Context, p *provider, settings connectors.SSO, own flowSecret, begun store.SSOFlow, code string) (identity, error) {
	client, err := s.store.Vault(own.tenant).SSOSecret(ctx, settings.Issuer, settings.ClientID)
	if fault.Is(err, fault.NotFound) {
		return identity{}, errChanged()
	}
	if err != nil {
		return identity{}, err
	}
	ctx = oidc.ClientContext(ctx, s.providerClient())
	tokens, err := s.oauthConfig(p, settings.ClientID, client, settings.GroupsClaim).Exchange(ctx, code, oauth2.VerifierOption(own.pkceVerifier()))
	if err != nil {
		return identity{}, newExchangeError(settings.Issuer, err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return identity{}, newRefusal("sso-no-token", fault.Upstream, "The provider didn't return an ID token.")
	}
	token, err := s.verifyIDToken(ctx, p, settings, raw, tokenExpectation{nonce: own.nonceText(), since: begun.CreatedAt, anew: begun.Confirms != nil})
	if err != nil {
		return identity{}, err
	}
	if token.AccessTokenHash != "" && token.VerifyAccessToken(tokens.AccessToken) != nil {
		return identity{}, newRefusal("sso-at-hash", fault.Denied, "The provider's access token doesn't match its ID token (at_hash). Start again.")
	}
	who, err := s.identifyPerson(ctx, p, settings, token, tokens)
	who.tokens = store.SSOTokens{
		IDToken: secret.Text(raw), RefreshToken: secret.Text(tokens.RefreshToken),
		TokenEndpoint: asciiURL(p.Endpoint().TokenURL), AuthMethods: p.meta.AuthMethods,
	}
	return who, err
}

// recordTest stores that an owner signed in with the current settings.
func (s *Service) recordTest(ctx context.Context, a auth.Actor, settings connectors.SSO, who identity) (Finished, error) {
	role, _ := settings.RoleOf(who.Groups)
	settings.TestedAt = new(s.now())
	err := s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.SSO().MarkTested(ctx, settings); err != nil {
			return err
		}
		e := a.Event("sso.test", settings.Issuer)
		e.Detail = map[string]any{"subject": who.Subject.ID, "email": who.Email, "groups": who.Groups, "role": role}
		return tx.Audit().Record(ctx, e)
	})
	if fault.Is(err, fault.NotFound) {
		return Finished{}, errChanged()
	}
	return Finished{User: *a.UserID, Trial: &Trial{Email: who.Email, Covered: settings.Covers(who.Email), Groups: who.Groups, Role: role}}, err
}

// recordRefusal audits a failed sign-in and returns its error.
func (s *Service) recordRefusal(ctx context.Context, r Return, tenant connectors.Tenant, begun store.SSOFlow, who *identity, err error) error {
	f := fault.As(err)
	if f == nil || f.Kind == fault.Internal {
		return err
	}
	ctx = context.WithoutCancel(ctx) // recorded even if the caller disconnects
	actor := auth.Actor{Kind: auth.KindPerson, Name: "somebody at the provider", RequestID: r.RequestID, Address: r.Address}
	if who.Email != "" {
		actor.Name = who.Email
	}
	e := actor.Event("sso.refuse", begun.Issuer)
	e.Detail = map[string]any{"reason": f.Type, "sentence": f.Message, "subject": who.Subject.ID, "email": who.Email, "test": begun.Tester != nil}
	s.log.InfoContext(ctx, "single sign-on refused", "tenant_id", tenant.ID, "reason", f.Type)
	if failed := s.store.Tenant(tenant.ID).Audit().Record(ctx, e); failed != nil {
		return failed
	}
	return err
}

func equalText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
