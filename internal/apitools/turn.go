package apitools

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
)

// Bounds of the documents that the process reads at once, as one may take 256 MiB.
const (
	maxTurns          = 2
	maxTurnsPerTenant = 1
)

var turns = limit.NewGate[connectors.TenantID](maxTurnsPerTenant, maxTurns)

// TakeTurn calls f, which reads a document, when few others are read. It returns ctx's cause if that ends first. f must not call
// TakeTurn.
func TakeTurn(ctx context.Context, tenant connectors.TenantID, f func() error) error {
	if err := turns.Acquire(ctx, tenant); err != nil {
		return err
	}
	defer turns.Release(tenant)
	return f()
}
