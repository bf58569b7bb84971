package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
)

// NewestSweep returns the progress of the latest sync of all connectors, in one query; zero: none.
func (t Syncs) NewestSweep(ctx context.Context) (connectors.BulkSync, error) {
	row, err := t.q.NewestSweep(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return connectors.BulkSync{}, nil
	}
	if err != nil {
		return connectors.BulkSync{}, err
	}
	return connectors.BulkSync{ID: row.ID, Total: int(row.Total), OK: int(row.Ok), Failed: int(row.Failed), Cancelled: int(row.Cancelled), LastAt: row.LastAt.UTC()}, nil
}
