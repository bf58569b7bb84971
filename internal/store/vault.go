package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/queue"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// Vault is the door to one tenant's secrets, opened. It is made by [Store.Vault].
type Vault struct {
	keyring *ring
	id      connectors.TenantID
	scope   scope
	q       *dbgen.Queries
	jobs    *queue.Inserter
}

// Secret opens an agent's credential for a connector; agent nil: the shared one.
func (v *Vault) Secret(ctx context.Context, id connectors.ConnectorID, agent *connectors.AgentID) (connectors.Credential, secret.Text, error) {
	row, err := v.q.SealedCredential(ctx, v.id, id, agent)
	if err != nil {
		return connectors.Credential{}, "", found(err, "credential")
	}
	return v.open(row)
}

// LastUsed opens the credential of the agent that used the connector last; where none has, the newest.
func (v *Vault) LastUsed(ctx context.Context, id connectors.ConnectorID) (connectors.Credential, secret.Text, error) {
	row, err := v.q.SealedCredentialUsedLast(ctx, v.id, id)
	if err != nil {
		return connectors.Credential{}, "", found(err, "credential")
	}
	return v.open(row)
}

// MarkUsed notes that a credential was used, at most once a minute. One that is gone is no error.
func (v *Vault) MarkUsed(ctx context.Context, id connectors.CredentialID) error {
	return v.q.MarkCredentialUsed(ctx, v.id, id)
}

func (v *Vault) open(row dbgen.Credential) (connectors.Credential, secret.Text, error) {
	plain, err := v.keyring.Open(row.Sealed, credentialPlace(v.id, row.ConnectorID, row.AgentID, row.Origin))
	if err != nil {
		return connectors.Credential{}, "", fault.Wrap(fault.Internal, err, "The stored credential cannot be opened. Set it again.")
	}
	return credentialOf(row), plain, nil
}
