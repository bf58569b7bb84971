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
	"patchbay/internal/store"
)

// Return is a browser that comes back from a provider.
type Return struct {
	Query     url.Values
	Browser   Browser     // of its cookie; empty: it has none
	Person    *auth.Actor // who is signed in there already; nil: nobody
	Address   string      // for the audit log
	RequestID string
}

// Finished is how a sign-in ended.
type Finished struct {
	Tenant   connectors.Tenant
	User     connectors.UserID // whom to start a session for
	ReturnTo string
	Trial    *Trial // an owner tried the settings, and nobody was signed in

	Confirmed bool // the person who is signed in proved it again, or was to; nobody was signed in
}

// Trial is what a provider said of the owner who tried it.
type Trial struct {
	Email   string
	Covered bool // the address is of a verified domain
	Groups  []string
	Role    connectors.Role // that a sign-in would give; empty: no access
}

// Finish ends a sign-in. Why it failed is the error's sentence; who comes back without a flow of this browser learns no more than that.
func (s *Service) Finish(ctx context.Context, r Return) (Finished, error) {
	own, ok := readState(r.Query.Get("state"), r.Browser)
	if !ok {
		return Finished{}, notBegun()
	}
	begun, err := s.store.Tenant(own.tenant).TakeSSO(ctx, own.id, own.hash())
	if fault.Is(err, fault.NotFound) {
		return Finished{}, notBegun()
	}
	if err != nil {
		return Finished{}, err
	}
	tenant, err := s.store.Tenant(own.tenant).Self(ctx)
	if err != nil {
		return Finished{}, err
	}
	who := &identity{}
	done, err := s.finish(ctx, r, own, begun, who)
	if err != nil {
		return Finished{Confirmed: begun.Confirms != nil, ReturnTo: begun.ReturnTo}, s.refused(ctx, r, tenant, begun, who, err)
	}
	done.Tenant, done.ReturnTo = tenant, begun.ReturnTo
	return done, nil
}

func (s *Service) finish(ctx context.Context, r Return, own flow, begun store.SSOFlow, who *identity) (Finished, error) {
	ctx, cancel := context.WithTimeout(ctx, providerTime)
	defer cancel()
	ctx = safehttp.WithTenant(ctx, own.tenant.String())
	settings, err := s.stillMeant(ctx, r, own, begun)
	if err != nil {
		return Finished{}, err
	}
	p, err := s.discover(ctx, own.tenant, settings.Issuer)
	if err != nil {
		return Finished{}, err
	}
	code, err := readAnswer(r.Query, settings.Issuer, p)
	if err != nil {
		return Finished{}, err
	}
	if *who, err = s.exchange(ctx, p, settings, own, begun, code); err != nil {
		return Finished{}, err
	}
	if begun.Confirms != nil {
		return Finished{Confirmed: true, User: *r.Person.UserID}, s.isStill(ctx, own.tenant, *r.Person, *who)
	}
	if begun.Tester != nil {
		return s.tried(ctx, *r.Person, settings, *who)
	}
	if !settings.Covers(who.Email) {
		return Finished{}, foreignAddress()
	}
	m, err := s.admit(ctx, r, own.tenant, settings, *who)
	return Finished{User: m.UserID}, err
}

// stillMeant are the settings, where the sign-in that comes back is still one by them.
func (s *Service) stillMeant(ctx context.Context, r Return, own flow, begun store.SSOFlow) (connectors.SSO, error) {
	settings, err := s.store.Tenant(own.tenant).SSO(ctx)
	switch {
	case err != nil:
		return settings, err
	case s.now().After(begun.ExpiresAt):
		return settings, refuse("sso-late", fault.Denied, "The sign-in took more than ten minutes. Begin it again.")
	case settings.Issuer != begun.Issuer || settings.ClientID != begun.ClientID || begun.Tester == nil && !settings.Enabled:
		return settings, changedMeanwhile()
	case begun.Confirms != nil && (r.Person == nil || r.Person.Session != *begun.Confirms || r.Person.Tenant.ID != own.tenant):
		return settings, refuse("sso-confirms", fault.Denied, "Whoever began this is not signed in any more. Sign in, and begin again.")
	case begun.Tester != nil && !tests(r.Person, own.tenant, *begun.Tester):
		return settings, refuse("sso-tester", fault.Denied, "Whoever began this test is not signed in any more. Sign in, and test again.")
	}
	return settings, nil
}

func changedMeanwhile() error {
	return refuse("sso-changed", fault.Denied, "Single sign-on was changed while you signed in. Begin again.")
}

// tests tells whether the person in the browser is the owner who began the test.
func tests(a *auth.Actor, tenant connectors.TenantID, tester connectors.UserID) bool {
	return a != nil && a.UserID != nil && *a.UserID == tester && a.Tenant.ID == tenant && a.Role.May(connectors.PermOwn)
}

// readAnswer is the code of a provider's answer (OpenID Connect Core §3.1.2.5, RFC 9207 §2.4).
func readAnswer(q url.Values, issuer string, p *provider) (string, error) {
	if iss := q.Get("iss"); iss != issuer && (q.Has("iss") || p.meta.IssParameter) {
		return "", refuse("sso-iss", fault.Denied, "The answer came from another provider than the one that was asked. Begin again.")
	}
	if failure := q.Get("error"); failure != "" {
		return "", providerSaid(issuer, failure)
	}
	if code := q.Get("code"); code != "" && len(q["code"]) == 1 {
		return code, nil
	}
	return "", refuse("sso-answer", fault.Upstream, "The provider sent you back without an answer. Begin again.")
}

// exchange turns a code into who signed in.
func (s *Service) exchange(ctx context.Context, p *provider, settings connectors.SSO, own flow, begun store.SSOFlow, code string) (identity, error) {
	client, err := s.store.Vault(own.tenant).SSOSecret(ctx, settings.Issuer, settings.ClientID)
	if fault.Is(err, fault.NotFound) {
		return identity{}, changedMeanwhile()
	}
	if err != nil {
		return identity{}, err
	}
	ctx = oidc.ClientContext(ctx, s.http)
	tokens, err := s.client(p, settings.ClientID, client, settings.GroupsClaim).Exchange(ctx, code, oauth2.VerifierOption(own.verifier()))
	if err != nil {
		return identity{}, notExchanged(settings.Issuer, err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	if raw == "" {
		return identity{}, refuse("sso-no-token", fault.Upstream, "The provider answered without saying who signed in: it sent no id token.")
	}
	token, err := s.verify(ctx, p, settings, raw, expected{nonce: own.nonce(), since: begun.CreatedAt, anew: begun.Confirms != nil})
	if err != nil {
		return identity{}, err
	}
	if token.AccessTokenHash != "" && token.VerifyAccessToken(tokens.AccessToken) != nil {
		return identity{}, refuse("sso-at-hash", fault.Denied, "What the provider sent does not belong together. Begin again.")
	}
	return s.identify(ctx, p, settings, token, tokens)
}

// tried notes that an owner signed in with the settings as they are.
func (s *Service) tried(ctx context.Context, a auth.Actor, settings connectors.SSO, who identity) (Finished, error) {
	role, _ := settings.RoleOf(who.Groups)
	settings.TestedAt = new(s.now())
	err := s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.SSOTested(ctx, settings); err != nil {
			return err
		}
		e := a.Event("sso.test", settings.Issuer)
		e.Detail = map[string]any{"subject": who.Subject.ID, "email": who.Email, "groups": who.Groups, "role": role}
		return tx.Record(ctx, e)
	})
	if fault.Is(err, fault.NotFound) {
		return Finished{}, changedMeanwhile()
	}
	return Finished{User: *a.UserID, Trial: &Trial{Email: who.Email, Covered: settings.Covers(who.Email), Groups: who.Groups, Role: role}}, err
}

// refused tells the tenant's audit log of a sign-in that failed, and is why it failed.
func (s *Service) refused(ctx context.Context, r Return, tenant connectors.Tenant, begun store.SSOFlow, who *identity, err error) error {
	f := fault.As(err)
	if f == nil || f.Kind == fault.Internal {
		return err
	}
	ctx = context.WithoutCancel(ctx) // who hangs up is on record all the same
	actor := auth.Actor{Kind: auth.KindPerson, Name: "somebody at the provider", RequestID: r.RequestID, Address: r.Address}
	if who.Email != "" {
		actor.Name = who.Email
	}
	e := actor.Event("sso.refuse", begun.Issuer)
	e.Detail = map[string]any{"reason": f.Type, "sentence": f.Message, "subject": who.Subject.ID, "email": who.Email, "test": begun.Tester != nil}
	s.log.InfoContext(ctx, "single sign-on refused", "tenant_id", tenant.ID, "reason", f.Type)
	if failed := s.store.Tenant(tenant.ID).Record(ctx, e); failed != nil {
		return failed
	}
	return err
}

func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
