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

// recogniseTime bounds the question whether a server still knows our client.
const recogniseTime = 5 * time.Second

// client finds out as whom to go to an authorization server:
//
//	the connector's own client id, where its secret is not another server's
//	our metadata document, where the server reads such
//	what this tenant registered there before, where the server has not forgotten it
//	what it registers now: one for all of the tenant's connectors
func (b *Broker) client(ctx context.Context, s survey) (oauth.Registration, error) {
	if err := b.checkClient(ctx, s.place, s.discovery.Server); err != nil {
		return oauth.Registration{}, err
	}
	client, ok, err := b.ownClient(ctx, s.place, s.discovery.Server, "")
	if ok || err != nil {
		return client, err
	}
	client, err = b.registered(ctx, s.tenant, s.discovery.Server)
	switch {
	case fault.Is(err, fault.NotFound):
		return b.alone(ctx, s, b.register)
	case err != nil || s.sure || b.recognised(ctx, s, client):
		return client, err
	default:
		return b.alone(ctx, s, func(ctx context.Context, s survey) (oauth.Registration, error) { return b.renew(ctx, s, client) })
	}
}

// alone has one caller at a time deal with a tenant's registration at an issuer; the others take what comes of it. It does not end
// with its caller.
func (b *Broker) alone(
	ctx context.Context, s survey, deed func(context.Context, survey) (oauth.Registration, error),
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

// ownClient is the client that needs no registration: the connector's own, with its secret, or our document; ok is false where there
// is neither.
func (b *Broker) ownClient(
	ctx context.Context, p place, m oauth.Metadata, own oauth.Secret,
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

// checkClient refuses what the connector's own client may not be used for: a secret that was entered for another server, and a token
// endpoint of another origin with a client that is not an admin's own, but our document or what this tenant registered.
func (b *Broker) checkClient(ctx context.Context, p place, m oauth.Metadata) error {
	if err := b.secretFits(ctx, p, m); err != nil || !m.HasForeignTokenEndpoint() {
		return err
	}
	id := p.connector.OAuth.ClientID
	if id == "" || id == b.document {
		return oauth.ForeignTokenEndpoint(oauth.StepRegister, m)
	}
	client, err := b.registered(ctx, p.tenant, m)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err == nil && client.ClientID == id:
		return oauth.ForeignTokenEndpoint(oauth.StepRegister, m)
	}
	return err
}

// secretFits is a Conflict where the secret of the connector's own client belongs to another server. It binds nothing: it is the token
// request that shows it.
func (b *Broker) secretFits(ctx context.Context, p place, m oauth.Metadata) error {
	if p.connector.OAuth.ClientID == "" {
		return nil
	}
	err := b.store.Vault(p.tenant).ClientSecretFits(ctx, p.connector, m.Issuer)
	if fault.Is(err, fault.NotFound) {
		return nil // a client without one
	}
	return err
}

// ownSecret opens the secret of the connector's own client, and binds it to this server where it is the first to see it.
func (b *Broker) ownSecret(ctx context.Context, p place, m oauth.Metadata) (oauth.Secret, error) {
	text, err := b.store.Vault(p.tenant).ClientSecret(ctx, p.connector, m.Issuer)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return oauth.Secret(text.Reveal()), err
}

func (b *Broker) registered(ctx context.Context, tenant connectors.TenantID, m oauth.Metadata) (oauth.Registration, error) {
	return b.store.Vault(tenant).Registration(ctx, m.Issuer, b.RedirectURI())
}

// register makes and stores a registration, unless there is one by now. Where another replica was faster its client counts.
func (b *Broker) register(ctx context.Context, s survey) (oauth.Registration, error) {
	client, err := b.registered(ctx, s.tenant, s.discovery.Server)
	if !fault.Is(err, fault.NotFound) {
		return client, err
	}
	if client, err = b.introduce(ctx, s); err != nil {
		return oauth.Registration{}, err
	}
	if err := b.tenant(s.tenant).SaveRegistration(ctx, b.RedirectURI(), client); err != nil {
		return oauth.Registration{}, err
	}
	return b.registered(ctx, s.tenant, s.discovery.Server)
}

// introduce registers with the server.
func (b *Broker) introduce(ctx context.Context, s survey) (oauth.Registration, error) {
	ctx = safehttp.WithTenant(ctx, s.tenant.String())
	req := oauth.RegisterRequest{
		Server: s.discovery.Server, ClientName: clientName, ClientURI: b.baseURL, RedirectURIs: []string{b.RedirectURI()},
		// Of all that is listed: another connector at this issuer will want others, by the same client.
		Scopes: oauth.UnionScopes(s.scopes, s.discovery.Server.ScopesSupported),
	}
	register := func(ctx context.Context) (oauth.Registration, error) { return b.oauth.Register(ctx, req) }
	client, err := tracing.Step(ctx, "oauth registration", failureWord, register)
	if failed, _ := errors.AsType[*oauth.Error](err); failed != nil && failed.HTTPStatus == http.StatusForbidden && len(req.Scopes) > 0 {
		req.Scopes = nil // a policy about scopes answers like one about strangers
		return tracing.Step(ctx, "oauth registration", failureWord, register)
	}
	return client, err
}

// recognised tells whether the server knows a client, as far as can be told without a person.
func (b *Broker) recognised(ctx context.Context, s survey, client oauth.Registration) bool {
	ctx, cancel := context.WithTimeout(safehttp.WithTenant(ctx, s.tenant.String()), recogniseTime)
	defer cancel()
	address, err := b.authorizeURL(s, client, oauth.NewState(), oauth.NewPKCE())
	return err != nil || b.oauth.Recognises(ctx, address)
}

// renew replaces a registration that the server has forgotten. Where it does not recognise a new one either, something else is wrong,
// and the old one stays: grants may hang on it.
func (b *Broker) renew(ctx context.Context, s survey, forgotten oauth.Registration) (oauth.Registration, error) {
	if now, err := b.registered(ctx, s.tenant, s.discovery.Server); err != nil || now.ClientID != forgotten.ClientID {
		return b.register(ctx, s)
	}
	client, err := b.introduce(ctx, s)
	if err == nil && b.recognised(ctx, s, client) {
		return b.replace(ctx, s, forgotten, client)
	}
	b.log.WarnContext(ctx, "client not recognised, and no other registered", append(s.attrs(), slog.Any("error", err))...)
	return forgotten, nil
}

func (b *Broker) replace(ctx context.Context, s survey, old, client oauth.Registration) (oauth.Registration, error) {
	issuer := s.discovery.Server.Issuer
	if err := b.tenant(s.tenant).ForgetRegistration(ctx, issuer, b.RedirectURI(), old.ClientID); err != nil {
		return oauth.Registration{}, err
	}
	if err := b.tenant(s.tenant).SaveRegistration(ctx, b.RedirectURI(), client); err != nil {
		return oauth.Registration{}, err
	}
	return b.registered(ctx, s.tenant, s.discovery.Server)
}

// clientOf is the client that a flow or a grant was started with, as it can prove itself now; ok is false where it is gone. id is
// its client id.
func (b *Broker) clientOf(ctx context.Context, p place, m oauth.Metadata, id string) (client oauth.Registration, ok bool, err error) {
	m.NotePinnedTokenEndpoint(p.connector.OAuth.TokenEndpoint)
	var own oauth.Secret
	if p.connector.OAuth.ClientID == id {
		if own, err = b.ownSecret(ctx, p, m); err != nil {
			return oauth.Registration{}, false, err
		}
	}
	client, ok, err = b.ownClient(ctx, p, m, own)
	if err != nil || ok && client.ClientID == id {
		return client, ok, err
	}
	client, err = b.registered(ctx, p.tenant, m)
	if fault.Is(err, fault.NotFound) {
		return oauth.Registration{}, false, nil
	}
	return client, err == nil && client.ClientID == id, err
}

func needsClientID(err error) bool {
	failed, ok := errors.AsType[*oauth.Error](err)
	return ok && failed.Kind == oauth.KindNeedsClientID
}
