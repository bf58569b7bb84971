package connect

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safe"
	"patchbay/internal/safehttp"
	"patchbay/internal/tracing"
)

// recogniseTimeout bounds the request whether a server still knows our client.
const recogniseTimeout = 5 * time.Second

// findClient returns our client at an authorization server, the first of:
//
//	the connector's own client id, if its secret is not another server's
//	our metadata document, if the server supports them
//	the tenant's stored registration, if the server still knows it
//	a new registration, shared by the tenant's connectors
func (b *Broker) findClient(ctx context.Context, s authSurvey) (oauth.Registration, error) {
	if err := b.checkClient(ctx, s.target, s.discovery.Server); err != nil {
		return oauth.Registration{}, err
	}
	client, ok, err := b.ownClient(ctx, s.target, s.discovery.Server, "")
	if ok || err != nil {
		return client, err
	}
	client, err = b.findRegistration(ctx, s.tenant, s.discovery.Server)
	switch {
	case fault.Is(err, fault.NotFound):
		return b.runOnce(ctx, s, b.registerOnce)
	case err != nil || s.isRecognised || b.isRecognised(ctx, s, client):
		return client, err
	default:
		return b.runOnce(ctx, s, func(ctx context.Context, s authSurvey) (oauth.Registration, error) {
			return b.renewRegistration(ctx, s, client)
		})
	}
}

// runOnce runs one call at a time per tenant and issuer; concurrent callers share its result. It outlives its
// caller.
func (b *Broker) runOnce(
	ctx context.Context, s authSurvey, deed func(context.Context, authSurvey) (oauth.Registration, error),
) (oauth.Registration, error) {
	flight := b.flights.DoChan(s.tenant.String()+" "+s.discovery.Server.Issuer, func() (_ any, err error) {
		defer safe.RecoverTo(safe.Task, &err)
		return deed(context.WithoutCancel(ctx), s)
	})
	select {
	case <-ctx.Done():
		return oauth.Registration{}, &oauth.Error{Step: oauth.StepRegister, Kind: oauth.KindTemporary, Err: ctx.Err()}
	case done := <-flight:
		if done.Err != nil {
			return oauth.Registration{}, done.Err
		}
		return done.Val.(oauth.Registration), nil
	}
}

// ownClient returns a client that needs no registration: the connector's own with its secret, or our document;
// ok is false without one.
func (b *Broker) ownClient(
	ctx context.Context, p target, m oauth.Metadata, own oauth.Secret,
) (client oauth.Registration, ok bool, err error) {
	m.RegistrationEndpoint = ""
	client, err = b.oauth.Register(ctx, oauth.RegisterRequest{
		Server: m, DocumentURL: b.document, Configured: oauth.Registration{ClientID: p.connector.OAuth.ClientID, ClientSecret: own},
	})
	if needsClientID(err) {
		return oauth.Registration{}, false, nil
	}
	return client, err == nil, err
}

// checkClient refuses a client secret entered for another server. It also refuses a token endpoint of another
// origin, unless the client is an admin's own.
func (b *Broker) checkClient(ctx context.Context, p target, m oauth.Metadata) error {
	if err := b.checkOwnSecret(ctx, p, m); err != nil || !m.HasForeignTokenEndpoint() {
		return err
	}
	id := p.connector.OAuth.ClientID
	if id == "" || id == b.document {
		return oauth.ForeignTokenEndpoint(oauth.StepRegister, m)
	}
	client, err := b.findRegistration(ctx, p.tenant, m)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err == nil && client.ClientID == id:
		return oauth.ForeignTokenEndpoint(oauth.StepRegister, m)
	}
	return err
}

// checkOwnSecret fails with Conflict if the client secret belongs to another server. It binds nothing: the
// token request does.
func (b *Broker) checkOwnSecret(ctx context.Context, p target, m oauth.Metadata) error {
	if p.connector.OAuth.ClientID == "" {
		return nil
	}
	err := b.store.Vault(p.tenant).ClientSecretFits(ctx, p.connector, m.Issuer)
	if fault.Is(err, fault.NotFound) {
		return nil // a client without one
	}
	return err
}

// openOwnSecret opens the secret of the connector's own client, and binds it to this server on first use.
func (b *Broker) openOwnSecret(ctx context.Context, p target, m oauth.Metadata) (oauth.Secret, error) {
	text, err := b.store.Vault(p.tenant).ClientSecret(ctx, p.connector, m.Issuer)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return oauth.Secret(text.Reveal()), err
}

func (b *Broker) findRegistration(ctx context.Context, tenant connectors.TenantID, m oauth.Metadata) (oauth.Registration, error) {
	return b.store.Vault(tenant).Registration(ctx, m.Issuer, b.RedirectURI())
}

// registerOnce stores a new registration, unless one exists by now. Another replica's wins.
func (b *Broker) registerOnce(ctx context.Context, s authSurvey) (oauth.Registration, error) {
	client, err := b.findRegistration(ctx, s.tenant, s.discovery.Server)
	if !fault.Is(err, fault.NotFound) {
		return client, err
	}
	if client, err = b.registerClient(ctx, s); err != nil {
		return oauth.Registration{}, err
	}
	if err := b.tenantStore(s.tenant).Accounts().SaveRegistration(ctx, b.RedirectURI(), client); err != nil {
		return oauth.Registration{}, err
	}
	return b.findRegistration(ctx, s.tenant, s.discovery.Server)
}

// registerClient registers with the server.
func (b *Broker) registerClient(ctx context.Context, s authSurvey) (oauth.Registration, error) {
	ctx = safehttp.WithTenant(ctx, s.tenant.String())
	req := oauth.RegisterRequest{
		Server: s.discovery.Server, ClientName: clientName, ClientURI: b.baseURL, RedirectURIs: []string{b.RedirectURI()},
		// Of all that is listed: another connector at this issuer will want others, by the same client.
		Scopes: oauth.UnionScopes(s.scopes, s.discovery.Server.ScopesSupported),
	}
	register := func(ctx context.Context) (oauth.Registration, error) { return b.oauth.Register(ctx, req) }
	client, err := tracing.Step(ctx, "oauth registration", failureClass, register)
	if failed, _ := errors.AsType[*oauth.Error](err); failed != nil && failed.HTTPStatus == http.StatusForbidden && len(req.Scopes) > 0 {
		req.Scopes = nil // a policy about scopes answers like one about strangers
		return tracing.Step(ctx, "oauth registration", failureClass, register)
	}
	return client, err
}

// isRecognised reports whether the server knows a client, as far as that can be checked without a person.
func (b *Broker) isRecognised(ctx context.Context, s authSurvey, client oauth.Registration) bool {
	ctx, cancel := context.WithTimeout(safehttp.WithTenant(ctx, s.tenant.String()), recogniseTimeout)
	defer cancel()
	address, err := b.authorizeURL(s, client, oauth.NewState(), oauth.NewPKCE())
	return err != nil || b.oauth.Recognises(ctx, address)
}

// renewRegistration replaces a registration that the server has forgotten. If the new one is not recognized
// either, the cause is another, and the old one stays: grants may depend on it.
func (b *Broker) renewRegistration(ctx context.Context, s authSurvey, forgotten oauth.Registration) (oauth.Registration, error) {
	if now, err := b.findRegistration(ctx, s.tenant, s.discovery.Server); err != nil || now.ClientID != forgotten.ClientID {
		return b.registerOnce(ctx, s)
	}
	client, err := b.registerClient(ctx, s)
	if err == nil && b.isRecognised(ctx, s, client) {
		return b.replaceRegistration(ctx, s, forgotten, client)
	}
	b.log.WarnContext(ctx, "client not recognized, no other registered", append(s.logAttrs(), slog.Any("error", err))...)
	return forgotten, nil
}

func (b *Broker) replaceRegistration(ctx context.Context, s authSurvey, old, client oauth.Registration) (oauth.Registration, error) {
	issuer := s.discovery.Server.Issuer
	if err := b.tenantStore(s.tenant).Accounts().DeleteRegistration(ctx, issuer, b.RedirectURI(), old.ClientID); err != nil {
		return oauth.Registration{}, err
	}
	if err := b.tenantStore(s.tenant).Accounts().SaveRegistration(ctx, b.RedirectURI(), client); err != nil {
		return oauth.Registration{}, err
	}
	return b.findRegistration(ctx, s.tenant, s.discovery.Server)
}

// findFlowClient returns the client that a flow or grant was started with, by client id; ok is false if it is
// gone.
func (b *Broker) findFlowClient(ctx context.Context, p target, m oauth.Metadata, id string) (client oauth.Registration, ok bool, err error) {
	m.NotePinnedTokenEndpoint(p.connector.OAuth.TokenEndpoint)
	var own oauth.Secret
	if p.connector.OAuth.ClientID == id {
		if own, err = b.openOwnSecret(ctx, p, m); err != nil {
			return oauth.Registration{}, false, err
		}
	}
	client, ok, err = b.ownClient(ctx, p, m, own)
	if err != nil || ok && client.ClientID == id {
		return client, ok, err
	}
	client, err = b.findRegistration(ctx, p.tenant, m)
	if fault.Is(err, fault.NotFound) {
		return oauth.Registration{}, false, nil
	}
	return client, err == nil && client.ClientID == id, err
}

func needsClientID(err error) bool {
	failed, ok := errors.AsType[*oauth.Error](err)
	return ok && failed.Kind == oauth.KindNeedsClientID
}
