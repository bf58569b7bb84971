package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

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

// SecretByID is [Vault.Secret] for an account that was read before.
func (v *Vault) SecretByID(ctx context.Context, id connectors.CredentialID) (connectors.Credential, secret.Text, error) {
	row, err := v.q.SealedCredential(ctx, v.id, id)
	if err != nil {
		return connectors.Credential{}, "", rowError(err, "credential")
	}
	return v.openCredential(row)
}

// SyncSecret opens the credential that syncs of a connector use: the one chosen for them, else the only shared one, or that of an agent
// that was used last. shared: of a connector with a shared credential. Several shared ones without a choice are a Conflict of
// [TypeAccountRequired], with their names.
func (v *Vault) SyncSecret(ctx context.Context, id connectors.ConnectorID, shared bool) (connectors.Credential, secret.Text, error) {
	row, err := v.syncAccount(ctx, id, shared)
	if err != nil {
		return connectors.Credential{}, "", err
	}
	c, plain, err := v.openCredential(row.Credential)
	c.AgentSlug = row.AgentSlug
	return c, plain, err
}

// SyncGrant is [Vault.SyncSecret] for a grant. A credential of another type is not found.
func (v *Vault) SyncGrant(ctx context.Context, id connectors.ConnectorID, shared bool) (Grant, error) {
	row, err := v.syncAccount(ctx, id, shared)
	if err != nil {
		return Grant{}, err
	}
	return v.openTypedGrant(row.Credential)
}

// syncAccount returns the account that syncs use.
func (v *Vault) syncAccount(ctx context.Context, id connectors.ConnectorID, shared bool) (dbgen.SyncCredentialRow, error) {
	row, err := v.q.SyncCredential(ctx, v.id, id, shared)
	if !errors.Is(err, pgx.ErrNoRows) {
		return row, err
	}
	if shared {
		row.Credential, err = v.sealedAccount(ctx, id, nil, "")
		return row, err
	}
	last, err := v.q.AgentCredentialUsedLast(ctx, v.id, id)
	return dbgen.SyncCredentialRow(last), rowError(err, "credential")
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
