package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// OfSecondFactor is a member's second factor: its key and recovery codes. One that is being set up does not
// count.
func OfSecondFactor(user connectors.UserID) StateReader {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.SecondFactorState(ctx, t.id, user)
		if err != nil {
			return nil, err
		}
		if row.ConfirmedAt == nil {
			return nil, pgx.ErrNoRows
		}
		state, err := State{}.withFingerprint(t, "recovery_codes", secret.Text(row.Codes), user.String())
		if err != nil {
			return nil, err
		}
		key, ok := t.openIfReadable(ctx, row.Sealed, secondFactorAD(user))
		if !ok {
			return state.withUnreadable("key"), nil
		}
		return state.withFingerprint(t, "key", key, user.String())
	}
}
