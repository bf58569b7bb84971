package connect

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

// Diagnose runs the steps of Start against a connector's servers and reports each. It registers and stores
// nothing. Failures of servers are in the Diagnosis; the error is about the request, or about us.
func (b *Broker) Diagnose(ctx context.Context, a auth.Actor, c connectors.Ref) (Diagnosis, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return Diagnosis{}, err
	}
	p := target{tenant: a.Tenant.ID}
	var err error
	if p.connector, err = b.tenantStore(p.tenant).Connectors().Get(ctx, c); err != nil {
		return Diagnosis{}, err
	}
	switch p.connector.Auth.Type {
	case connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
	default:
		return Diagnosis{}, fault.Errorf(fault.Conflict, "The connector %q doesn't use OAuth.", p.connector.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTimeout)
	defer cancel()
	s, err := b.surveyServers(ctx, p)
	d := s.toDiagnosis()
	if err == nil {
		d.Client, err = b.describeClient(ctx, s)
	}
	if err != nil {
		d.Problem = b.toFault(err).Message
	}
	return d, nil
}

// describeClient describes the source of the client id, and whether a person could be redirected with it.
func (b *Broker) describeClient(ctx context.Context, s authSurvey) (string, error) {
	if s.connector.Auth.Type != connectors.AuthOAuth2 {
		return "The credential's or connector's client ID.", nil
	}
	client, words, err := b.predictClient(ctx, s)
	if err != nil {
		return words, err
	}
	_, err = b.authorizeURL(s, client, oauth.NewState(), oauth.NewPKCE())
	return words, err
}

// predictClient returns the client that Start would use.
func (b *Broker) predictClient(ctx context.Context, s authSurvey) (client oauth.Registration, words string, err error) {
	m := s.discovery.Server
	if err := b.checkClient(ctx, s.target, m); err != nil {
		return client, "", err
	}
	client, ok, err := b.ownClient(ctx, s.target, m, "")
	if err == nil && !ok {
		client, err = b.findRegistration(ctx, s.tenant, m)
	}
	switch {
	case err == nil:
		return client, describeSource(client), nil
	case !fault.Is(err, fault.NotFound):
		return client, "", err
	case m.RegistrationEndpoint == "":
		return client, "None: an admin must enter one.", &oauth.Error{Step: oauth.StepRegister, Kind: oauth.KindNeedsClientID}
	default:
		client = oauth.Registration{Issuer: m.Issuer, ClientID: "none-yet"}
		return client, "Registered when an account is connected.", nil
	}
}
