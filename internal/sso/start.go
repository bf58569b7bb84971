package sso

import (
	"context"
	"net/url"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// Start begins a sign-in for an e-mail address and returns the redirect URL. It does not reveal whether the
// address has an account.
func (s *Service) Start(ctx context.Context, email, returnTo string, browser Browser) (string, error) {
	domain := connectors.EmailDomain(email)
	if domain == "" {
		return "", fault.InvalidFields(fault.Field{Location: "email", Message: "Enter your email address to find your provider."})
	}
	tenant, err := s.store.System().People().SSOTenant(ctx, domain)
	if fault.Is(err, fault.NotFound) {
		return "", fault.InvalidFields(fault.Field{Location: "email", Message: "This address has no single sign-on. Sign in with your password."})
	}
	if err != nil {
		return "", err
	}
	return s.beginSignIn(ctx, tenant, store.SSOFlow{ReturnTo: returnTo}, auth.NormalizeEmail(email), browser)
}

// Try begins a test of the tenant's settings, without a session.
func (s *Service) Try(ctx context.Context, a auth.Actor, browser Browser) (string, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return "", err
	}
	if a.UserID == nil {
		return "", fault.Errorf(fault.Denied, "Only people can sign in at the provider.")
	}
	return s.beginSignIn(ctx, a.Tenant.ID, store.SSOFlow{Tester: a.UserID}, "", browser)
}

// Confirm begins a re-authentication of the actor at the provider, without a new session.
func (s *Service) Confirm(ctx context.Context, a auth.Actor, browser Browser) (string, error) {
	if a.UserID == nil || !a.BySSO {
		return "", fault.Errorf(fault.Conflict, "Only a single sign-on session can confirm at the provider.")
	}
	return s.beginSignIn(ctx, a.Tenant.ID, store.SSOFlow{Confirms: &a.Session}, a.Email, browser)
}

func (s *Service) beginSignIn(ctx context.Context, tenant connectors.TenantID, f store.SSOFlow, hint string, browser Browser) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, providerTimeout)
	defer cancel()
	door := s.store.Tenant(tenant)
	settings, err := door.SSO().Get(ctx)
	if err != nil {
		return "", err
	}
	if !settings.IsSetUp() {
		return "", errNotSetUp()
	}
	p, err := s.discoverProvider(ctx, tenant, settings.Issuer)
	if err != nil {
		return "", err
	}
	id, err := uuid.NewRandom() // visible in the state
	if err != nil {
		return "", err
	}
	own := flowSecret{tenant: tenant, id: id, browser: browser}
	f.ID, f.Browser, f.Issuer, f.ClientID = id, own.browserHash(), settings.Issuer, settings.ClientID
	f.CreatedAt = s.now()
	f.ExpiresAt = f.CreatedAt.Add(flowLife)
	if err := door.SSO().Start(ctx, f); err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(own.nonceText()), oauth2.S256ChallengeOption(own.pkceVerifier())}
	if hint != "" {
		options = append(options, oauth2.SetAuthURLParam("login_hint", hint))
	}
	config := s.oauthConfig(p, settings.ClientID, "", settings.GroupsClaim)
	if settings.ManagedAccounts && f.Confirms == nil && slices.Contains(p.meta.Scopes, oidc.ScopeOfflineAccess) {
		config.Scopes = append(config.Scopes, oidc.ScopeOfflineAccess)
	}
	if f.Confirms != nil { // OpenID Connect Core §3.1.2.1
		options = append(options, oauth2.SetAuthURLParam("max_age", "0"))
		if settings.Issuer != noPromptLogin {
			options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
		}
	}
	return config.AuthCodeURL(own.stateText(), options...), nil
}

// noPromptLogin is a provider that refuses prompt=login: it supports none, consent and select_account.
const noPromptLogin = "https://accounts.google.com"

// Check reads and checks the metadata of the tenant's provider.
func (s *Service) Check(ctx context.Context, a auth.Actor) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, providerTimeout)
	defer cancel()
	ctx = safehttp.WithTenant(ctx, a.Tenant.ID.String())
	settings, err := s.store.Tenant(a.Tenant.ID).SSO().Get(ctx)
	if err != nil {
		return err
	}
	if !settings.IsSetUp() {
		return errNotSetUp()
	}
	_, err = s.discoverProvider(ctx, a.Tenant.ID, settings.Issuer)
	return err
}

func errNotSetUp() error {
	return fault.Errorf(fault.Conflict, "Single sign-on isn't set up. Enter the provider and its client first.")
}

func hostFor(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "of your organisation"
	}
	return u.Host
}
