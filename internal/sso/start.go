package sso

import (
	"context"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// Start begins a sign-in of whoever has an e-mail address, and returns where the browser goes. Whether the address has an account here
// makes no difference.
func (s *Service) Start(ctx context.Context, email, returnTo string, browser Browser) (string, error) {
	domain := connectors.EmailDomain(email)
	if domain == "" {
		return "", fault.InvalidFields(fault.Field{Location: "email", Message: "Write your e-mail address: its domain says where you sign in."})
	}
	tenant, err := s.store.System().SSOTenant(ctx, domain)
	if fault.Is(err, fault.NotFound) {
		return "", fault.InvalidFields(fault.Field{Location: "email", Message: "No organisation here has single sign-on for this address. Sign in by your password."})
	}
	if err != nil {
		return "", err
	}
	return s.begin(ctx, tenant, store.SSOFlow{ReturnTo: returnTo}, auth.Account(email), browser)
}

// Try begins a sign-in that tries the settings of the actor's tenant: it signs nobody in.
func (s *Service) Try(ctx context.Context, a auth.Actor, browser Browser) (string, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return "", err
	}
	if a.UserID == nil {
		return "", fault.Errorf(fault.Denied, "Only a person can sign in at the provider.")
	}
	return s.begin(ctx, a.Tenant.ID, store.SSOFlow{Tester: a.UserID}, "", browser)
}

// Confirm begins a sign-in at the provider by which the person who came from there proves anew who they are. It begins no session.
func (s *Service) Confirm(ctx context.Context, a auth.Actor, browser Browser) (string, error) {
	if a.UserID == nil || !a.BySSO {
		return "", fault.Errorf(fault.Conflict, "Only who came by single sign-on confirms at the provider.")
	}
	return s.begin(ctx, a.Tenant.ID, store.SSOFlow{Confirms: &a.Session}, a.Email, browser)
}

func (s *Service) begin(ctx context.Context, tenant connectors.TenantID, f store.SSOFlow, hint string, browser Browser) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, providerTime)
	defer cancel()
	door := s.store.Tenant(tenant)
	settings, err := door.SSO(ctx)
	if err != nil {
		return "", err
	}
	if !settings.IsSetUp() {
		return "", notSetUp()
	}
	p, err := s.discover(ctx, tenant, settings.Issuer)
	if err != nil {
		return "", err
	}
	id, err := uuid.NewRandom() // the state shows it
	if err != nil {
		return "", err
	}
	own := flow{tenant: tenant, id: id, browser: browser}
	f.ID, f.Browser, f.Issuer, f.ClientID = id, own.hash(), settings.Issuer, settings.ClientID
	f.CreatedAt = s.now()
	f.ExpiresAt = f.CreatedAt.Add(flowLife)
	if err := door.StartSSO(ctx, f); err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(own.nonce()), oauth2.S256ChallengeOption(own.verifier())}
	if hint != "" {
		options = append(options, oauth2.SetAuthURLParam("login_hint", hint))
	}
	if f.Confirms != nil { // OpenID Connect Core §3.1.2.1
		options = append(options, oauth2.SetAuthURLParam("max_age", "0"))
		if settings.Issuer != noPromptLogin {
			options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
		}
	}
	return s.client(p, settings.ClientID, "", settings.GroupsClaim).AuthCodeURL(own.state(), options...), nil
}

// noPromptLogin is a provider that refuses a request with prompt=login as invalid: it knows none, consent and select_account.
const noPromptLogin = "https://accounts.google.com"

// Check reads what the provider of the actor's tenant says about itself, without a sign-in.
func (s *Service) Check(ctx context.Context, a auth.Actor) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, providerTime)
	defer cancel()
	ctx = safehttp.WithTenant(ctx, a.Tenant.ID.String())
	settings, err := s.store.Tenant(a.Tenant.ID).SSO(ctx)
	if err != nil {
		return err
	}
	if !settings.IsSetUp() {
		return notSetUp()
	}
	_, err = s.discover(ctx, a.Tenant.ID, settings.Issuer)
	return err
}

func notSetUp() error {
	return fault.Errorf(fault.Conflict, "Single sign-on is not set up: write the provider and its client first.")
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "of your organisation"
	}
	return u.Host
}
