package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// Credentials lists a connector's credentials, oldest first, without their secrets.
func (t *Tenant) Credentials(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.Credential], error) {
	after, err := p.afterID("credentials")
	if err != nil {
		return List[connectors.Credential]{}, err
	}
	rows, err := t.q.Credentials(ctx, dbgen.CredentialsParams{TenantID: t.id, ConnectorID: id, AfterID: after, MaxRows: p.rows()})
	if err != nil {
		return List[connectors.Credential]{}, err
	}
	item := func(r dbgen.CredentialsRow) connectors.Credential {
		return credentialOf(dbgen.Credential{
			ID: r.ID, ConnectorID: r.ConnectorID, AgentID: r.AgentID, Type: r.Type, Origin: r.Origin, Status: connectors.CredentialStatus(r.Status),
			Account: r.Account, Scopes: r.Scopes, ExpiresAt: r.ExpiresAt, RefreshedAt: r.RefreshedAt, LastUsedAt: r.LastUsedAt, Error: r.Error,
			Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		})
	}
	return listOf(p, rows, item, "credentials", func(r dbgen.CredentialsRow) []string { return []string{r.ID.String()} }), nil
}

// MaxAgentCredentials is how many rows AgentCredentials returns at most.
const MaxAgentCredentials = 200

// AgentCredentials tells, for each connector that wants a credential per agent, what an agent has there; the connectors
// are ordered by name.
func (t *Tenant) AgentCredentials(ctx context.Context, id connectors.AgentID) ([]AgentCredential, error) {
	rows, err := t.q.AgentCredentials(ctx, id.UUID, t.id, MaxAgentCredentials)
	if err != nil {
		return nil, err
	}
	all := make([]AgentCredential, len(rows))
	for i, r := range rows {
		all[i] = AgentCredential{ConnectorSlug: r.Slug, ConnectorName: r.Name, AuthType: r.AuthType, Status: connectors.CredentialStatus(r.Status)}
	}
	return all, nil
}

// SetCredential seals and stores a credential, in place of the one that was there. The connector's last error stays until
// the next sync: only that can tell whether the new one is any good.
func (t *Tenant) SetCredential(ctx context.Context, c NewCredential) error {
	p := dbgen.SetCredentialParams{
		TenantID:    t.id,
		ID:          connectors.CredentialID{UUID: newID()},
		ConnectorID: c.ConnectorID,
		AgentID:     c.AgentID,
		Type:        c.Type,
		Origin:      c.Origin,
		Account:     clean(c.Account),
	}
	return t.storing(ctx, c.Secret, credentialPlace(t.id, c.ConnectorID, c.AgentID, c.Origin), func(sealed []byte) error {
		p.Sealed = sealed
		if err := t.says(t.q.SetCredential(ctx, p), "credential", c.ConnectorID); err != nil {
			return err
		}
		return t.connected(ctx, c.ConnectorID, c.AgentID)
	})
}

// DeleteCredential removes an agent's credential; agent nil: the shared one.
func (t *Tenant) DeleteCredential(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) error {
	n, err := t.q.DeleteCredential(ctx, t.id, id, agent)
	return t.says(touched(n, err, "credential"), "credential", id)
}

// DeleteCredentials removes all credentials of a connector and says how many there were.
func (t *Tenant) DeleteCredentials(ctx context.Context, id connectors.ConnectorID) (int, error) {
	n, err := t.q.DeleteCredentials(ctx, t.id, id)
	return int(n), t.says(err, "credential", id)
}

// credentialPlace is where a sealed credential belongs. The row is named by its connector and agent, which are unique and known
// before the row is. The origin is part of the place: who may write to the table cannot turn a secret elsewhere.
func credentialPlace(tenant connectors.TenantID, id connectors.ConnectorID, agent *connectors.AgentID, origin string) secret.AD {
	row := id.String() + "/shared"
	if agent != nil {
		row = id.String() + "/" + agent.String()
	}
	return secret.AD{Tenant: tenant.String(), Table: "credentials", Column: "sealed", Row: row + "/" + origin}
}

func credentialOf(r dbgen.Credential) connectors.Credential {
	return connectors.Credential{
		ID:          r.ID,
		ConnectorID: r.ConnectorID,
		AgentID:     r.AgentID,
		Type:        r.Type,
		Origin:      r.Origin,
		Status:      r.Status,
		Account:     r.Account,
		Scopes:      r.Scopes,
		ExpiresAt:   utc(r.ExpiresAt),
		RefreshedAt: utc(r.RefreshedAt),
		LastUsedAt:  utc(r.LastUsedAt),
		Error:       r.Error,
		Version:     int(r.Version),
		CreatedAt:   r.CreatedAt.UTC(),
		UpdatedAt:   r.UpdatedAt.UTC(),
	}
}
