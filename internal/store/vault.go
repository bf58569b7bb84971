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

// Secret opens an agent's credential for a connector; agent nil: the shared one.
func (v *Vault) Secret(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) (connectors.Credential, secret.Text, error) {
	row, err := v.q.SealedCredential(ctx, v.id, id, agent)
	if err != nil {
		return connectors.Credential{}, "", rowError(err, "credential")
	}
	return v.openCredential(row)
}

// LastUsed opens the connector's most recently used credential; if none was used, the newest.
func (v *Vault) LastUsed(ctx context.Context, id connectors.ConnectorID) (connectors.Credential, secret.Text, error) {
	row, err := v.q.SealedCredentialUsedLast(ctx, v.id, id)
	if err != nil {
		return connectors.Credential{}, "", rowError(err, "credential")
	}
	return v.openCredential(row)
}

// MarkUsed records the last use of a credential, at most once a minute. A missing one is no error.
func (v *Vault) MarkUsed(ctx context.Context, id connectors.CredentialID) error {
	return v.q.MarkCredentialUsed(ctx, v.id, id)
}

func (v *Vault) openCredential(row dbgen.Credential) (connectors.Credential, secret.Text, error) {
	plain, err := v.keyring.Open(row.Sealed, credentialAD(v.id, row.ConnectorID, row.AgentID, row.Origin))
	if err != nil {
		return connectors.Credential{}, "", fault.Wrap(fault.Internal, err, "The stored credential can't be decrypted. Set it again.")
	}
	return toCredential(row), plain, nil
}
