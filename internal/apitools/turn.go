package apitools

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
)

// Bounds of the documents that the process reads at once, as one may take 256 MiB.
const (
	maxTurns          = 2
	maxTurnsPerTenant = 1
)

var turns = limit.NewGate[connectors.TenantID](maxTurnsPerTenant, maxTurns)

// Bounds of the documents that wait for their files. They stay in memory without a turn.
const (
	maxBundles          = 4
	maxBundlesPerTenant = 1
	maxBundleTime       = time.Minute // others wait meanwhile
)

var bundles = limit.NewGate[connectors.TenantID](maxBundlesPerTenant, maxBundles)

// leaveTurn calls f, which waits for a server, without the turn that the caller has. It returns with the turn.
func leaveTurn(ctx context.Context, tenant connectors.TenantID, f func() error) error {
	turns.Release(tenant)
	defer func() { _ = turns.Acquire(context.WithoutCancel(ctx), tenant) }() // the wait has no end, and so no error
	return f()
}

// TakeTurn calls f, which reads a document, when few others are read. It returns ctx's cause if that ends first. f must not call
// TakeTurn.
func TakeTurn(ctx context.Context, tenant connectors.TenantID, f func() error) error {
	if err := turns.Acquire(ctx, tenant); err != nil {
		return err
	}
	defer turns.Release(tenant)
	return f()
}

// takeBundle calls f, which bundles a document, when few others are bundled. It returns ctx's cause if that ends first. f may call
// TakeTurn. A caller that has a turn must not call takeBundle: each would wait for the other.
func takeBundle(ctx context.Context, tenant connectors.TenantID, f func(ctx context.Context) error) error {
	if err := bundles.Acquire(ctx, tenant); err != nil {
		return err
	}
	defer bundles.Release(tenant)
	ctx, cancel := context.WithTimeout(ctx, maxBundleTime)
	defer cancel()
	return f(ctx)
}
