package store

import (
	"context"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SetClientSecret seals and stores the secret of the client that an admin registered by hand, in place of the one that was
// there. It belongs to the connector's client id and origin as they are now, and to the issuer that it is first used with.
func (t *Tenant) SetClientSecret(ctx context.Context, c connectors.Connector, s secret.Text) error {
	p := dbgen.SetClientSecretParams{TenantID: t.id, ConnectorID: c.ID, ClientID: c.OAuth.ClientID, Origin: connectors.Origin(c.URL)}
	return t.storing(ctx, s, clientPlace(t.id, c.ID, p.ClientID, p.Origin, ""), func(sealed []byte) error {
		p.Sealed = sealed
		return t.q.SetClientSecret(ctx, p)
	})
}

// DeleteClientSecret removes it, and tells whether there was one.
func (t *Tenant) DeleteClientSecret(ctx context.Context, id connectors.ConnectorID) (bool, error) {
	n, err := t.q.DeleteClientSecret(ctx, t.id, id)
	return n > 0, err
}

// ClientSecret opens the secret of a connector's own client for an issuer, and binds it to that issuer where it is the first.
// It is NotFound where there is none for the connector's client id and origin, and a Conflict where it belongs to another issuer:
// a secret is never shown to a second one.
func (v *Vault) ClientSecret(ctx context.Context, c connectors.Connector, issuer string) (secret.Text, error) {
	issuer = clean(issuer)
	row, err := v.clientSecretFor(ctx, c, issuer)
	if err != nil {
		return "", err
	}
	plain, err := v.keyring.Open(row.Sealed, clientPlace(v.id, c.ID, row.ClientID, row.Origin, row.Issuer))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The stored client secret cannot be opened. Enter it again.")
	}
	if row.Issuer == issuer {
		return plain, nil
	}
	return plain, v.bindClientSecret(ctx, row, issuer, plain)
}

// ClientSecretFits fails as ClientSecret would, and neither opens nor binds anything: to look at a server is not to use it.
func (v *Vault) ClientSecretFits(ctx context.Context, c connectors.Connector, issuer string) error {
	_, err := v.clientSecretFor(ctx, c, clean(issuer))
	return err
}

func (v *Vault) clientSecretFor(ctx context.Context, c connectors.Connector, issuer string) (dbgen.ConnectorClient, error) {
	row, err := v.q.ClientSecret(ctx, v.id, c.ID)
	switch {
	case err != nil:
		return row, found(err, "client secret")
	case row.ClientID != c.OAuth.ClientID || row.Origin != connectors.Origin(c.URL):
		return row, missing("client secret")
	case row.Issuer != "" && row.Issuer != issuer:
		return row, fault.Errorf(fault.Conflict, "The client secret belongs to the authorization server %s, and this one is %s. Enter the secret again if that is right.", row.Issuer, issuer)
	}
	return row, nil
}

func (v *Vault) bindClientSecret(ctx context.Context, row dbgen.ConnectorClient, issuer string, plain secret.Text) error {
	p := dbgen.BindClientSecretParams{
		TenantID: v.id, ConnectorID: row.ConnectorID, ClientID: row.ClientID, Origin: row.Origin, Issuer: issuer, SeenAt: row.UpdatedAt,
	}
	var n int64
	place := clientPlace(v.id, row.ConnectorID, row.ClientID, row.Origin, issuer)
	err := v.keyring.storing(ctx, v.scope, plain, place, func(sealed []byte) (err error) {
		p.Sealed = sealed
		n, err = v.q.BindClientSecret(ctx, p)
		return err
	})
	if err != nil || n == 1 {
		return err
	}
	now, err := v.q.ClientSecret(ctx, v.id, row.ConnectorID)
	// Bound by somebody else meanwhile, it still is what was read; entered anew it is not.
	if err == nil && (now.Issuer != issuer || now.ClientID != row.ClientID || now.Origin != row.Origin) {
		return fault.Errorf(fault.Conflict, "The client secret was changed meanwhile. Try again.")
	}
	return found(err, "client secret")
}

// clientPlace names client, origin and issuer: who may write to the table cannot have a secret sent to another.
func clientPlace(tenant connectors.TenantID, id connectors.ConnectorID, clientID, origin, issuer string) secret.AD {
	return secret.AD{
		Tenant: tenant.String(), Table: "connector_clients", Column: "sealed", Row: fmt.Sprintf("%s %q %q %q", id, clientID, origin, issuer),
	}
}
