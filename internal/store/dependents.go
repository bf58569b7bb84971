package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// dependentDays is how many days of calls count.
const dependentDays = 30

// Dependents returns the agents and calls that depend on a connector, counted over 30 days before now.
func (t Connectors) Dependents(ctx context.Context, id connectors.ConnectorID, now time.Time) (connectors.Dependents, error) {
	row, err := t.q.Dependents(ctx, dbgen.DependentsParams{
		TenantID: t.id, ConnectorID: id, Since: minUUIDv7At(now.AddDate(0, 0, -dependentDays)), MaxCalls: connectors.MaxCountedCalls + 1,
	})
	if err != nil {
		return connectors.Dependents{}, err
	}
	return connectors.Dependents{
		Agents: int(row.Agents), Names: row.Names, Calls: int(row.Calls), Approvals: int(row.Approvals), Accounts: int(row.Accounts),
	}, nil
}

// CredentialOwners are the owners of a connector's credentials.
type CredentialOwners struct {
	Agents int
	Names  []string // of the first agents, by name
	Shared bool     // there is a shared credential
}

// maxOwnerNames bounds CredentialOwners.Names.
const maxOwnerNames = 10

// CredentialOwners returns the owners of a connector's credentials.
func (t Connectors) CredentialOwners(ctx context.Context, id connectors.ConnectorID) (CredentialOwners, error) {
	row, err := t.q.CredentialOwners(ctx, t.id, id, maxOwnerNames)
	return CredentialOwners{Agents: int(row.Agents), Names: row.Names, Shared: row.Shared}, err
}
