package connect

import (
	"context"
	"errors"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

// client finds out as whom to go to an authorization server:
//
//	the connector's own client id, with the secret that an admin entered for this issuer
//	our metadata document, where the server reads such
//	what this tenant registered there before
//	what it registers now: one for all of the tenant's connectors
func (b *Broker) client(ctx context.Context, p place, m oauth.Metadata, scopes []string) (oauth.Registration, error) {
	client, ok, err := b.ownClient(ctx, p, m)
	if ok || err != nil {
		return client, err
	}
	client, err = b.registered(ctx, p.tenant, m)
	if !fault.Is(err, fault.NotFound) {
		return client, err
	}
	// Two that start at once register once. Where another replica did meanwhile, its client stands in the table.
	flight := b.flights.DoChan(p.tenant.String()+" "+m.Issuer, func() (any, error) {
		return b.register(context.WithoutCancel(ctx), p.tenant, m, scopes)
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

// ownClient is the client that needs no registration: the connector's own, or our document; ok is false where there is neither.
func (b *Broker) ownClient(ctx context.Context, p place, m oauth.Metadata) (client oauth.Registration, ok bool, err error) {
	req := oauth.RegisterRequest{Server: m, DocumentURL: b.document}
	req.Server.RegistrationEndpoint = ""
	if id := p.connector.OAuth.ClientID; id != "" {
		text, err := b.store.Vault(p.tenant).ClientSecret(ctx, p.connector, m.Issuer)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return oauth.Registration{}, false, err
		}
		req.Configured = oauth.Registration{ClientID: id, ClientSecret: oauth.Secret(text.Reveal())}
	}
	client, err = b.oauth.Register(ctx, req)
	if needsClientID(err) {
		return oauth.Registration{}, false, nil
	}
	return client, err == nil, err
}

func (b *Broker) registered(ctx context.Context, tenant connectors.TenantID, m oauth.Metadata) (oauth.Registration, error) {
	return b.store.Vault(tenant).Registration(ctx, m.Issuer, b.RedirectURI())
}

func (b *Broker) register(ctx context.Context, tenant connectors.TenantID, m oauth.Metadata, scopes []string) (oauth.Registration, error) {
	client, err := b.registered(ctx, tenant, m) // the flight before this one may have made it
	if !fault.Is(err, fault.NotFound) {
		return client, err
	}
	req := oauth.RegisterRequest{
		Server: m, ClientName: clientName, ClientURI: b.baseURL, RedirectURIs: []string{b.RedirectURI()},
		// Of all that is listed: another connector at this issuer will want others, by the same client.
		Scopes: oauth.UnionScopes(scopes, m.ScopesSupported),
	}
	client, err = b.oauth.Register(ctx, req)
	if failed, _ := errors.AsType[*oauth.Error](err); failed != nil && failed.HTTPStatus == http.StatusForbidden && len(req.Scopes) > 0 {
		req.Scopes = nil // a policy about scopes answers like one about strangers
		client, err = b.oauth.Register(ctx, req)
	}
	if err != nil {
		return oauth.Registration{}, err
	}
	if err := b.tenant(tenant).SaveRegistration(ctx, b.RedirectURI(), client); err != nil {
		return oauth.Registration{}, err
	}
	return b.registered(ctx, tenant, m)
}

// clientOf is the client that a flow or a grant was started with, as it can prove itself now; ok is false where it is gone. id is
// its client id.
func (b *Broker) clientOf(ctx context.Context, p place, m oauth.Metadata, id string) (client oauth.Registration, ok bool, err error) {
	client, ok, err = b.ownClient(ctx, p, m)
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
