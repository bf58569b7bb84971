package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// OfSecondFactor is what a member proves a sign-in with besides the password: its key, and the recovery codes. One that is being set up is
// none.
func OfSecondFactor(user connectors.UserID) Subject {
	return func(ctx context.Context, t *Tenant) (State, error) {
		row, err := t.q.SecondFactorState(ctx, t.id, user)
		if err != nil {
			return nil, err
		}
		if row.ConfirmedAt == nil {
			return nil, pgx.ErrNoRows
		}
		state, err := State{}.with(t, "recovery_codes", secret.Text(row.Codes), user.String())
		if err != nil {
			return nil, err
		}
		key, ok := t.readable(ctx, row.Sealed, secondFactorPlace(user))
		if !ok {
			return state.unreadable("key"), nil
		}
		return state.with(t, "key", key, user.String())
	}
}
