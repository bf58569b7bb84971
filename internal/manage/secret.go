package manage

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// setSecret stores an entered secret: a credential of the connector or an agent, or with OAuth the connector's
// client secret.
func setSecret(
	ctx context.Context, tx store.Connectors, o credentialOwner, s connectors.Secret,
) error {
	c := o.connector
	if c.Auth.Type == connectors.AuthOAuth2 {
		return tx.SetClientSecret(ctx, c, s.ClientSecret)
	}
	cred, err := newCredential(c, o.agentID(), s)
	if err != nil {
		return err
	}
	cred.Name = o.account
	return tx.SetCredential(ctx, cred)
}

func newCredential(c connectors.Connector, agent *connectors.AgentID, s connectors.Secret) (store.NewCredential, error) {
	sealed, err := s.Encode()
	if err != nil {
		return store.NewCredential{}, err
	}
	return store.NewCredential{
		ConnectorID: c.ID, AgentID: agent, Type: c.Auth.Type, Origin: c.CredentialOrigin(), Account: s.Account(), Secret: sealed,
	}, nil
}

// checkClientID refuses a client secret without a client id.
func checkClientID(d connectors.Draft, s connectors.Secret) []fault.Field {
	if d.Auth.Type != connectors.AuthOAuth2 || s.ClientSecret.Empty() || d.OAuth.ClientID != "" {
		return nil
	}
	return []fault.Field{{Location: "auth.client_id", Message: "A client secret needs its client ID."}}
}

// checkClientChange requires a new secret with a new machine client id.
func checkClientChange(old, now connectors.Draft, s connectors.Secret) []fault.Field {
	if old.Auth.Type != now.Auth.Type || old.OAuth.ClientID == now.OAuth.ClientID ||
		now.CredentialMode != connectors.CredentialShared || !s.Empty() {
		return nil
	}
	switch now.Auth.Type {
	case connectors.AuthClientCredentials:
		return []fault.Field{{Location: "auth.client_secret", Message: "A new client ID needs its secret."}}
	case connectors.AuthPrivateKeyJWT:
		return []fault.Field{{Location: "auth.private_key", Message: "A new client ID needs its private key."}}
	default:
		return nil
	}
}
