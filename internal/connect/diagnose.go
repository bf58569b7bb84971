package connect

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

// Diagnose looks at a connector's servers now, as Start would, and tells every step. Nothing is registered or stored. What is wrong
// with the servers stands in the Diagnosis; the error is about the order, or about us.
func (b *Broker) Diagnose(ctx context.Context, a auth.Actor, c connectors.Ref) (Diagnosis, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return Diagnosis{}, err
	}
	p := place{tenant: a.Tenant.ID}
	var err error
	if p.connector, err = b.tenant(p.tenant).Connector(ctx, c); err != nil {
		return Diagnosis{}, err
	}
	switch p.connector.Auth.Type {
	case connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
	default:
		return Diagnosis{}, fault.Errorf(fault.Conflict, "The connector %q does not sign in by OAuth: there is nothing to look for.", p.connector.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	s, err := b.survey(ctx, p)
	d := s.diagnosis()
	if err == nil {
		d.Client, err = b.howClient(ctx, s)
	}
	if err != nil {
		d.Problem = b.explain(err).Message
	}
	return d, nil
}

// howClient says how a client id would be had, and whether a person could be sent away with it.
func (b *Broker) howClient(ctx context.Context, s survey) (string, error) {
	if s.connector.Auth.Type != connectors.AuthOAuth2 {
		return "The client id of the credential, or of the connector's settings.", nil
	}
	client, words, err := b.foreseen(ctx, s)
	if err != nil {
		return words, err
	}
	_, err = b.authorizeURL(s, client, oauth.NewState(), oauth.NewPKCE())
	return words, err
}

// foreseen is the client that a start would go with.
func (b *Broker) foreseen(ctx context.Context, s survey) (client oauth.Registration, words string, err error) {
	m := s.discovery.Server
	if err := b.checkClient(ctx, s.place, m); err != nil {
		return client, "", err
	}
	client, ok, err := b.ownClient(ctx, s.place, m, "")
	if err == nil && !ok {
		client, err = b.registered(ctx, s.tenant, m)
	}
	switch {
	case err == nil:
		return client, clientWords(client), nil
	case !fault.Is(err, fault.NotFound):
		return client, "", err
	case m.RegistrationEndpoint == "":
		return client, "None: an admin has to enter one.", &oauth.Error{Step: oauth.StepRegister, Kind: oauth.KindNeedsClientID}
	default:
		client = oauth.Registration{Issuer: m.Issuer, ClientID: "none-yet"}
		return client, "Patchbay registers itself when an account is connected.", nil
	}
}
