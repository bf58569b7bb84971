package store

import (
	"cmp"
	"context"
	"encoding/json"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// Credentials lists a connector's credentials, oldest first, without their secrets.
func (t Connectors) Credentials(ctx context.Context, id connectors.ConnectorID, p Page) (List[connectors.Credential], error) {
	after, err := p.afterID("credentials")
	if err != nil {
		return List[connectors.Credential]{}, err
	}
	rows, err := t.q.Credentials(ctx, dbgen.CredentialsParams{TenantID: t.id, ConnectorID: id, AfterID: after, MaxRows: p.rowLimit()})
	if err != nil {
		return List[connectors.Credential]{}, err
	}
	item := func(r dbgen.CredentialsRow) connectors.Credential {
		c := toCredential(dbgen.Credential{
			ID: r.ID, ConnectorID: r.ConnectorID, AgentID: r.AgentID, Name: r.Name, Syncs: r.Syncs, Type: r.Type, Origin: r.Origin, Status: connectors.CredentialStatus(r.Status),
			Account: r.Account, Scopes: r.Scopes, ExpiresAt: r.ExpiresAt, RefreshedAt: r.RefreshedAt, LastUsedAt: r.LastUsedAt, Error: r.Error, Upstream: r.Upstream,
			MemberID: r.MemberID, Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		})
		c.AgentSlug, c.AgentName, c.Identity = r.AgentSlug, r.AgentName, decodeIdentity(r.Identity)
		return c
	}
	return newList(p, rows, item, "credentials", func(r dbgen.CredentialsRow) []string { return []string{r.ID.String()} }), nil
}

// MaxAgentCredentials bounds the rows of [Connectors.AgentCredentials].
const MaxAgentCredentials = 200

// AgentCredentials returns an agent's credential for each connector that requires one per agent, by connector
// name.
func (t Connectors) AgentCredentials(ctx context.Context, id connectors.AgentID) ([]AgentCredential, error) {
	rows, err := t.q.AgentCredentials(ctx, id.UUID, t.id, MaxAgentCredentials)
	if err != nil {
		return nil, err
	}
	all := make([]AgentCredential, len(rows))
	for i, r := range rows {
		all[i] = AgentCredential{ConnectorSlug: r.Slug, ConnectorName: r.Name, Name: r.AccountName, AuthType: r.AuthType, Status: connectors.CredentialStatus(r.Status)}
	}
	return all, nil
}

// SetCredential seals and stores a credential, replacing the previous one. The connector's last error stays
// until the next sync tries it.
func (t Connectors) SetCredential(ctx context.Context, c NewCredential) error {
	name, err := t.chooseAccountName(ctx, c.ConnectorID, c.AgentID, c.Name)
	if err != nil {
		return err
	}
	p := dbgen.SetCredentialParams{
		TenantID:    t.id,
		Name:        name,
		ID:          connectors.CredentialID{UUID: newID()},
		ConnectorID: c.ConnectorID,
		AgentID:     c.AgentID,
		Type:        c.Type,
		Origin:      c.Origin,
		Account:     cleanText(c.Account),
	}
	return t.sealAndRetry(ctx, c.Secret, credentialAD(t.id, accountPlace{c.ConnectorID, c.AgentID, name, c.Origin}), func(sealed []byte) error {
		p.Sealed = sealed
		if err := t.notifyChange(t.q.SetCredential(ctx, p), "credential", c.ConnectorID); err != nil {
			return err
		}
		return t.markAccountConnected(ctx, c.ConnectorID, c.AgentID)
	})
}

// DeleteCredential deletes an agent's account with a name; empty: the only one. agent nil: the shared one. Neither a managed account nor one
// from token exchange takes its place.
func (t Connectors) DeleteCredential(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string) error {
	name, err := t.chooseAccountName(ctx, id, agent, name)
	if err != nil {
		return err
	}
	if agent != nil {
		if err := t.q.RecordDisconnected(ctx, id.UUID, t.id, *agent); err != nil {
			return err
		}
		if err := t.q.RecordAgentDisconnected(ctx, id.UUID, t.id, *agent); err != nil {
			return err
		}
	}
	n, err := t.q.DeleteCredential(ctx, dbgen.DeleteCredentialParams{TenantID: t.id, ConnectorID: id, AgentID: agent, Name: name})
	return t.notifyChange(affectedError(n, err, "credential"), "credential", id)
}

// DeleteCredentials deletes all credentials of a connector and returns their number.
func (t Connectors) DeleteCredentials(ctx context.Context, id connectors.ConnectorID) (int, error) {
	n, err := t.q.DeleteCredentials(ctx, t.id, id)
	return int(n), t.notifyChange(err, "credential", id)
}

// accountPlace is what a sealed credential is bound to.
type accountPlace struct {
	connector connectors.ConnectorID
	agent     *connectors.AgentID // nil: shared
	name      string
	origin    string
}

// credentialAD binds a sealed credential to connector, agent, name and origin. With the origin, write access to the table cannot send a
// secret to another server; with the name, not as another account. The default name is left out: older rows have none, and releases that
// know no names open no other account.
func credentialAD(tenant connectors.TenantID, at accountPlace) secret.AD {
	owner := "shared"
	if at.agent != nil {
		owner = at.agent.String()
	}
	if at.name != connectors.DefaultAccount {
		owner += "+" + at.name // no owner has the sign
	}
	return secret.AD{Tenant: tenant.String(), Table: "credentials", Column: "sealed", Row: at.connector.String() + "/" + owner + "/" + at.origin}
}

// decodeIdentity reads the account of a grant's metadata; zero: unknown.
func decodeIdentity(raw []byte) connectors.Identity {
	var i connectors.Identity
	if json.Unmarshal(raw, &i) != nil {
		return connectors.Identity{}
	}
	return i
}

// toAccountName returns the label of an account by its identity, else by its account at the server. Before it is its name, unless that is the
// default one.
func toAccountName(owner *connectors.AgentID, name, account string, identity []byte) connectors.AccountName {
	label := cmp.Or(decodeIdentity(identity).Label(), account)
	switch {
	case name == "" || name == connectors.DefaultAccount:
	case label == "":
		label = name
	default:
		label = name + " · " + label
	}
	return connectors.AccountName{Owner: owner, Label: label}
}

func toCredential(r dbgen.Credential) connectors.Credential {
	c := connectors.Credential{
		ID:          r.ID,
		ConnectorID: r.ConnectorID,
		AgentID:     r.AgentID,
		Name:        r.Name,
		Syncs:       r.Syncs,
		Type:        r.Type,
		Origin:      r.Origin,
		Status:      r.Status,
		Account:     r.Account,
		Member:      r.MemberID,
		Scopes:      r.Scopes,
		ExpiresAt:   toUTC(r.ExpiresAt),
		RefreshedAt: toUTC(r.RefreshedAt),
		LastUsedAt:  toUTC(r.LastUsedAt),
		Error:       r.Error,
		Version:     int(r.Version),
		CreatedAt:   r.CreatedAt.UTC(),
		UpdatedAt:   r.UpdatedAt.UTC(),
	}
	if c.Error != "" { // a release that does not know the column leaves it where it clears the error
		c.Upstream = decodeUpstream(r.Upstream)
	}
	return c
}
