package store

import "context"

// RequireSecondFactor sets whether members need a second factor.
func (t People) RequireSecondFactor(ctx context.Context, required bool) error {
	n, err := t.q.RequireSecondFactor(ctx, required, t.id)
	return affectedError(n, err, "tenant")
}
