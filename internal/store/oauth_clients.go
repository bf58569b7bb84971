package store

import (
	"context"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SetClientSecret seals and stores the secret of an admin's own client, replacing the previous one. It is bound
// to the connector's current client id and origin, and to the first issuer that uses it.
func (t Connectors) SetClientSecret(ctx context.Context, c connectors.Connector, s secret.Text) error {
	p := dbgen.SetClientSecretParams{TenantID: t.id, ConnectorID: c.ID, ClientID: c.OAuth.ClientID, Origin: c.CredentialOrigin()}
	return t.sealAndRetry(ctx, s, clientSecretAD(t.id, c.ID, p.ClientID, p.Origin, ""), func(sealed []byte) error {
		p.Sealed = sealed
		return t.q.SetClientSecret(ctx, p)
	})
}

// DeleteClientSecret deletes it and reports whether it existed.
func (t Connectors) DeleteClientSecret(ctx context.Context, id connectors.ConnectorID) (bool, error) {
	n, err := t.q.DeleteClientSecret(ctx, t.id, id)
	return n > 0, err
}

// ClientSecret opens the secret of a connector's own client for an issuer, and binds it to the issuer on first
// use. It fails with NotFound if none fits the connector's client id and origin. It fails with Conflict if it
// is bound to another issuer, which must not see it.
func (v *Vault) ClientSecret(ctx context.Context, c connectors.Connector, issuer string) (secret.Text, error) {
	issuer = cleanText(issuer)
	row, err := v.clientSecretFor(ctx, c, issuer)
	if err != nil {
		return "", err
	}
	plain, err := v.keyring.Open(row.Sealed, clientSecretAD(v.id, c.ID, row.ClientID, row.Origin, row.Issuer))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The stored client secret can't be decrypted. Enter it again.")
	}
	if row.Issuer == issuer {
		return plain, nil
	}
	return plain, v.bindClientSecret(ctx, row, issuer, plain)
}

// ClientSecretFits fails as [Vault.ClientSecret] would, without opening or binding the secret.
func (v *Vault) ClientSecretFits(ctx context.Context, c connectors.Connector, issuer string) error {
	_, err := v.clientSecretFor(ctx, c, cleanText(issuer))
	return err
}

func (v *Vault) clientSecretFor(ctx context.Context, c connectors.Connector, issuer string) (dbgen.ConnectorClient, error) {
	row, err := v.q.ClientSecret(ctx, v.id, c.ID)
	switch {
	case err != nil:
		return row, rowError(err, "client secret")
	case row.ClientID != c.OAuth.ClientID || row.Origin != c.CredentialOrigin():
		return row, newNotFound("client secret")
	case row.Issuer != "" && row.Issuer != issuer:
		return row, fault.Errorf(fault.Conflict, "The client secret is for the authorization server %s, not %s. If that is right, enter it again.", row.Issuer, issuer)
	}
	return row, nil
}

func (v *Vault) bindClientSecret(ctx context.Context, row dbgen.ConnectorClient, issuer string, plain secret.Text) error {
	p := dbgen.BindClientSecretParams{
		TenantID: v.id, ConnectorID: row.ConnectorID, ClientID: row.ClientID, Origin: row.Origin, Issuer: issuer, SeenAt: row.UpdatedAt,
	}
	var n int64
	place := clientSecretAD(v.id, row.ConnectorID, row.ClientID, row.Origin, issuer)
	err := v.keyring.sealAndRetry(ctx, v.scope, plain, place, func(sealed []byte) (err error) {
		p.Sealed = sealed
		n, err = v.q.BindClientSecret(ctx, p)
		return err
	})
	if err != nil || n == 1 {
		return err
	}
	now, err := v.q.ClientSecret(ctx, v.id, row.ConnectorID)
	// A concurrent binding keeps the secret valid. A secret entered anew does not.
	if err == nil && (now.Issuer != issuer || now.ClientID != row.ClientID || now.Origin != row.Origin) {
		return fault.Errorf(fault.Conflict, "The client secret changed meanwhile. Try again.")
	}
	return rowError(err, "client secret")
}

// clientSecretAD binds a secret to client, origin and issuer, so that write access to the table cannot send it
// elsewhere.
func clientSecretAD(tenant connectors.TenantID, id connectors.ConnectorID, clientID, origin, issuer string) secret.AD {
	return secret.AD{
		Tenant: tenant.String(), Table: "connector_clients", Column: "sealed", Row: fmt.Sprintf("%s %q %q %q", id, clientID, origin, issuer),
	}
}
