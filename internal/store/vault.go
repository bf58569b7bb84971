package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/queue"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// Vault is the entry point to one tenant's opened secrets. [Store.Vault] makes it.
type Vault struct {
	keyring *liveKeyring
	id      connectors.TenantID
	scope   scope
	q       *dbgen.Queries
	jobs    *queue.Inserter
}

// Secret opens an agent's only credential for a connector; agent nil: the shared one. Several are a Conflict of [TypeAccountRequired].
func (v *Vault) Secret(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) (connectors.Credential, secret.Text, error) {
	return v.NamedSecret(ctx, id, agent, "")
}

// NamedSecret is [Vault.Secret] for the account with a name; empty: the only one.
func (v *Vault) NamedSecret(
	ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID, name string,
) (connectors.Credential, secret.Text, error) {
	row, err := v.sealedAccount(ctx, id, agent, name)
	if err != nil {
		return connectors.Credential{}, "", err
	}
	return v.openCredential(row)
}

// SyncSecret opens the credential that syncs of a connector use: the one chosen for them, else the only one. shared: of a connector with a
// shared credential. Several without a choice are a Conflict of [TypeAccountRequired], with the agents' slugs and the names.
func (v *Vault) SyncSecret(ctx context.Context, id connectors.ConnectorID, shared bool) (connectors.Credential, secret.Text, error) {
	rows, err := v.q.SyncCredentials(ctx, dbgen.SyncCredentialsParams{TenantID: v.id, ConnectorID: id, Shared: shared, MaxRows: maxAccounts})
	switch {
	case err != nil:
		return connectors.Credential{}, "", err
	case len(rows) == 0:
		return connectors.Credential{}, "", newNotFound("credential")
	case len(rows) > 1:
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = connectors.Credential{AgentSlug: r.AgentSlug, Name: r.Credential.Name}.Place()
		}
		return connectors.Credential{}, "", newSeveralAccounts(names)
	}
	c, plain, err := v.openCredential(rows[0].Credential)
	c.AgentSlug = rows[0].AgentSlug
	return c, plain, err
}

// MarkUsed records the last use of a credential, at most once a minute. A missing one is no error.
func (v *Vault) MarkUsed(ctx context.Context, id connectors.CredentialID) error {
	return v.q.MarkCredentialUsed(ctx, v.id, id)
}

func (v *Vault) openCredential(row dbgen.Credential) (connectors.Credential, secret.Text, error) {
	plain, err := v.keyring.Open(row.Sealed, credentialAD(v.id, accountPlace{row.ConnectorID, row.AgentID, row.Name, row.Origin}))
	if err != nil {
		return connectors.Credential{}, "", fault.Wrap(fault.Internal, err, "The stored credential can't be decrypted. Set it again.")
	}
	return toCredential(row), plain, nil
}
