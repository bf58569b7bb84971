package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// maxRevocationsPerTenant bounds a tenant's concurrent revocations. There is one per issuer of a tenant.
const maxRevocationsPerTenant = 2

// ClaimedRevocation is a deleted grant that is to be revoked at its authorization server now.
type ClaimedRevocation struct {
	Tenant    connectors.TenantID
	ID        connectors.CredentialID
	Connector DeletedConnector
	AgentID   *connectors.AgentID // nil: the shared one
	Name      string              // that the account had
	Issuer    string
	Last      bool // it has waited for a day
}

// DeletedConnector is a connector at the time its grant was deleted. It may still exist.
type DeletedConnector struct {
	ID         connectors.ConnectorID
	Slug, Name string // empty if unknown
}

// ClaimRevocation claims a due revocation for 30 seconds. Tenants take turns: after is the tenant of the last
// claim. Unless finished, it is due again after a pause. It fails with NotFound if nothing is due or the
// tenants' bounds are reached.
func (s *System) ClaimRevocation(ctx context.Context, after connectors.TenantID) (ClaimedRevocation, error) {
	r, err := s.q.ClaimRevocation(ctx, maxRevocationsPerTenant, after)
	if err != nil {
		return ClaimedRevocation{}, rowError(err, "revocation")
	}
	return ClaimedRevocation{
		Tenant: r.TenantID, ID: r.ID, AgentID: r.AgentID, Name: r.Name, Issuer: r.Issuer, Last: r.LastTry,
		Connector: DeletedConnector{ID: r.ConnectorID, Slug: r.ConnectorSlug, Name: r.ConnectorName},
	}, nil
}

// Revocation is a deleted grant, opened.
type Revocation struct {
	Tokens       GrantTokens
	ClientSecret secret.Text // of the connector's own client; empty: another client, or a public one
	Superseded   bool        // the client has a newer grant, which the server could revoke together with this one
}

// Revocation opens a deleted grant that waits to be revoked.
func (v *Vault) Revocation(ctx context.Context, id connectors.CredentialID) (Revocation, error) {
	row, err := v.q.Revocation(ctx, v.id, id)
	if err != nil {
		return Revocation{}, rowError(err, "revocation")
	}
	of := row.AccountRevocation
	g, err := v.openGrant(dbgen.Credential{
		ConnectorID: of.ConnectorID, AgentID: of.AgentID, Name: of.Name, Origin: of.Origin, Sealed: of.Sealed, GrantMeta: of.GrantMeta,
	})
	if err != nil {
		return Revocation{}, err
	}
	r := Revocation{Tokens: g.Tokens, Superseded: row.Superseded}
	if row.ClientSealed == nil {
		return r, nil
	}
	r.ClientSecret, err = v.keyring.Open(row.ClientSealed, clientSecretAD(v.id, of.ConnectorID, row.ClientID, row.ClientOrigin, row.ClientIssuer))
	return r, err
}

// FinishRevocation deletes a grant that was revoked or given up.
func (t Accounts) FinishRevocation(ctx context.Context, id connectors.CredentialID) error {
	n, err := t.q.FinishRevocation(ctx, t.id, id)
	return affectedError(n, err, "revocation")
}

// ReleaseRevocation releases the claim of a grant that was not revoked.
func (t Accounts) ReleaseRevocation(ctx context.Context, id connectors.CredentialID) error {
	n, err := t.q.ReleaseRevocation(ctx, t.id, id)
	return affectedError(n, err, "revocation")
}

// HoldsGrantOf reports whether a stored grant is of the client and account of g. Revoking g could end that one too.
func (t Accounts) HoldsGrantOf(ctx context.Context, g NewGrant) (bool, error) {
	return t.q.HoldsGrantOf(ctx, dbgen.HoldsGrantOfParams{
		TenantID: t.id, ClientID: g.Meta.ClientID, Issuer: g.Meta.Server.Issuer, Subject: g.Meta.Identity.Subject, Account: cleanText(g.Account),
	})
}
