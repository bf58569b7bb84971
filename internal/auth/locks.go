package auth

import (
	"context"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// lockSought is how long after an account was locked that may be put on record: longer than a process is ever away that answers sign-ins.
const lockSought = time.Hour

// TellLocks puts on record that accounts were locked by wrong passwords, in each tenant that the password opens; once for a lock, however long
// somebody goes on. It is done by the clock and beside no request: an account that nobody has is refused with the same work.
func TellLocks(ctx context.Context, sys *store.System, now time.Time) error {
	locks, err := sys.UntoldLocks(ctx, maxFailures, failureWindow, now.Add(-lockSought))
	if err != nil {
		return fmt.Errorf("find locked accounts: %w", err)
	}
	for _, l := range locks {
		if err := tellLock(ctx, sys, l); err != nil {
			return fmt.Errorf("record a locked account: %w", err)
		}
	}
	return nil
}

func tellLock(ctx context.Context, sys *store.System, l store.Lock) error {
	users, err := sys.UsersByAddress(ctx, l.Account)
	if err != nil {
		return err
	}
	events := map[connectors.TenantID]store.Event{}
	for _, u := range users {
		all, err := sys.Memberships(ctx, u.ID)
		if err != nil {
			return err
		}
		for _, m := range byPassword(all) {
			events[m.Tenant.ID] = store.Event{
				ActorType: "system", ActorName: "Patchbay", Action: "account.lock", Target: m.Email, IP: l.Address,
				Detail: map[string]any{"user_id": u.ID.String(), "locked_at": l.At, "wrong_passwords": maxFailures},
			}
		}
	}
	return sys.TellLock(ctx, l, events)
}
