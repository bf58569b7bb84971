package store

import (
	"context"
	"fmt"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SaveRegistration stores our client at an issuer unless a valid one is stored: [Vault.Registration] returns
// the winner. Clients with a private key belong to an admin and are not stored here.
func (t Accounts) SaveRegistration(ctx context.Context, redirectURI string, r oauth.Registration) error {
	if r.Key != nil {
		return fmt.Errorf("store the registration at %s: it has a private key", r.Issuer)
	}
	p := dbgen.SaveRegistrationParams{
		TenantID: t.id, Issuer: cleanText(r.Issuer), RedirectUri: redirectURI, ClientID: r.ClientID, Source: string(r.Source),
		AuthMethod: string(r.Method),
	}
	if !r.SecretExpiresAt.IsZero() {
		p.SecretExpiresAt = &r.SecretExpiresAt
	}
	if r.ClientSecret == "" {
		return t.q.SaveRegistration(ctx, p)
	}
	place := registrationAD(t.id, p.Issuer, redirectURI, r.ClientID)
	return t.sealAndRetry(ctx, secret.Text(r.ClientSecret.Reveal()), place, func(sealed []byte) error {
		p.Sealed = sealed
		return t.q.SaveRegistration(ctx, p)
	})
}

// DeleteRegistration deletes our client at an issuer if it still is clientID. A missing one is no error.
func (t Accounts) DeleteRegistration(ctx context.Context, issuer, redirectURI, clientID string) error {
	return t.q.DeleteRegistration(ctx, dbgen.DeleteRegistrationParams{
		TenantID: t.id, Issuer: cleanText(issuer), RedirectUri: redirectURI, ClientID: clientID,
	})
}

// Registration opens our client at an issuer. A client with an expired secret is not found.
func (v *Vault) Registration(ctx context.Context, issuer, redirectURI string) (oauth.Registration, error) {
	row, err := v.q.Registration(ctx, v.id, cleanText(issuer), redirectURI)
	if err != nil {
		return oauth.Registration{}, rowError(err, "client registration")
	}
	r := oauth.Registration{
		Issuer: row.Issuer, ClientID: row.ClientID, Method: oauth.AuthMethod(row.AuthMethod), Source: oauth.Source(row.Source),
	}
	if row.SecretExpiresAt != nil {
		r.SecretExpiresAt = row.SecretExpiresAt.UTC()
	}
	if row.Sealed != nil {
		plain, err := v.keyring.Open(row.Sealed, registrationAD(v.id, row.Issuer, row.RedirectUri, row.ClientID))
		if err != nil {
			return oauth.Registration{}, fault.Wrap(fault.Internal, err, "The stored client registration can't be decrypted. Connect again.")
		}
		r.ClientSecret = oauth.Secret(plain.Reveal())
	}
	return r, nil
}

// registrationAD binds a secret to its issuer, so that write access to the table cannot send it elsewhere.
func registrationAD(tenant connectors.TenantID, issuer, redirectURI, clientID string) secret.AD {
	return secret.AD{
		Tenant: tenant.String(), Table: "client_registrations", Column: "sealed", Row: fmt.Sprintf("%q %q %q", issuer, redirectURI, clientID),
	}
}
