package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// maxRevocationsPerTenant bounds the revocations under way of a tenant. Of an issuer of a tenant there is one.
const maxRevocationsPerTenant = 2

// ClaimedRevocation is a deleted grant that its authorization server is to be told of now.
type ClaimedRevocation struct {
	Tenant    connectors.TenantID
	ID        connectors.CredentialID
	Connector DeletedConnector
	AgentID   *connectors.AgentID // nil: the shared one
	Issuer    string
	Last      bool // it has waited for a day
}

// DeletedConnector is a connector as it was when a grant of it was deleted. It may still exist.
type DeletedConnector struct {
	ID         connectors.ConnectorID
	Slug, Name string // empty in rows of before migration 84
}

// ClaimRevocation claims a deleted grant whose revocation is due, for 30 seconds. Tenants take turns: after is the one whose grant was claimed
// last. The grant is due again after a pause unless it is finished meanwhile. It is NotFound where nothing is due, or as much of it under
// way as may be.
func (s *System) ClaimRevocation(ctx context.Context, after connectors.TenantID) (ClaimedRevocation, error) {
	r, err := s.q.ClaimRevocation(ctx, maxRevocationsPerTenant, after)
	if err != nil {
		return ClaimedRevocation{}, found(err, "revocation")
	}
	return ClaimedRevocation{
		Tenant: r.TenantID, ID: r.ID, AgentID: r.AgentID, Issuer: r.Issuer, Last: r.LastTry,
		Connector: DeletedConnector{ID: r.ConnectorID, Slug: r.ConnectorSlug, Name: r.ConnectorName},
	}, nil
}

// Revocation is a deleted grant, opened.
type Revocation struct {
	Tokens       GrantTokens
	ClientSecret secret.Text // of the connector's own client; empty: the grant is for another client, or for one without a secret
	Superseded   bool        // the same client has a newer grant, which a server could end together with this one
}

// Revocation opens a deleted grant that waits to be revoked.
func (v *Vault) Revocation(ctx context.Context, id connectors.CredentialID) (Revocation, error) {
	row, err := v.q.Revocation(ctx, v.id, id)
	if err != nil {
		return Revocation{}, found(err, "revocation")
	}
	of := row.AccountRevocation
	g, err := v.openGrant(dbgen.Credential{
		ConnectorID: of.ConnectorID, AgentID: of.AgentID, Origin: of.Origin, Sealed: of.Sealed, GrantMeta: of.GrantMeta,
	})
	if err != nil {
		return Revocation{}, err
	}
	r := Revocation{Tokens: g.Tokens, Superseded: row.Superseded}
	if row.ClientSealed == nil {
		return r, nil
	}
	r.ClientSecret, err = v.keyring.Open(row.ClientSealed, clientPlace(v.id, of.ConnectorID, row.ClientID, row.ClientOrigin, row.ClientIssuer))
	return r, err
}

// FinishRevocation forgets a deleted grant: it is revoked, or given up.
func (t *Tenant) FinishRevocation(ctx context.Context, id connectors.CredentialID) error {
	n, err := t.q.FinishRevocation(ctx, t.id, id)
	return touched(n, err, "revocation")
}

// ReleaseRevocation ends the claim of a deleted grant that was not revoked.
func (t *Tenant) ReleaseRevocation(ctx context.Context, id connectors.CredentialID) error {
	n, err := t.q.ReleaseRevocation(ctx, t.id, id)
	return touched(n, err, "revocation")
}
