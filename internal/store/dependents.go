package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// dependentDays is how far back calls count.
const dependentDays = 30

// Dependents tells what a connector is used for, and was since now less 30 days.
func (t *Tenant) Dependents(ctx context.Context, id connectors.ConnectorID, now time.Time) (connectors.Dependents, error) {
	row, err := t.q.Dependents(ctx, dbgen.DependentsParams{
		TenantID: t.id, ConnectorID: id, Since: firstIDAt(now.AddDate(0, 0, -dependentDays)), MaxCalls: connectors.MaxCountedCalls + 1,
	})
	if err != nil {
		return connectors.Dependents{}, err
	}
	return connectors.Dependents{
		Agents: int(row.Agents), Names: row.Names, Calls: int(row.Calls), Approvals: int(row.Approvals), Accounts: int(row.Accounts),
	}, nil
}
