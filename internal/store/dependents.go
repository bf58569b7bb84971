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
