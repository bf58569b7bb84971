package store

import "context"

// RequireSecondFactor says whether the tenant's members need a second factor.
func (t *Tenant) RequireSecondFactor(ctx context.Context, required bool) error {
	n, err := t.q.RequireSecondFactor(ctx, required, t.id)
	return touched(n, err, "tenant")
}
