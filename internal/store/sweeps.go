package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
)

// NewestSweep returns the progress of the latest sync of all connectors, in one query; zero: none.
func (t *Tenant) NewestSweep(ctx context.Context) (connectors.Sweep, error) {
	row, err := t.q.NewestSweep(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return connectors.Sweep{}, nil
	}
	if err != nil {
		return connectors.Sweep{}, err
	}
	return connectors.Sweep{ID: row.ID, Total: int(row.Total), OK: int(row.Ok), Failed: int(row.Failed), LastAt: row.LastAt.UTC()}, nil
}
