package auth

import (
	"context"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// lockMaxAge is how long after a lockout it is still recorded: longer than the outage of any process.
const lockMaxAge = time.Hour

// RecordLocks audits account lockouts in each tenant that the password opens, once per lockout. It runs on a
// schedule, not in requests, so that refusals of unknown accounts take the same work.
func RecordLocks(ctx context.Context, sys *store.System, now time.Time) error {
	locks, err := sys.UnrecordedLocks(ctx, maxFailures, failureWindow, now.Add(-lockMaxAge))
	if err != nil {
		return fmt.Errorf("find locked accounts: %w", err)
	}
	for _, l := range locks {
		if err := recordLock(ctx, sys, l); err != nil {
			return fmt.Errorf("record a locked account: %w", err)
		}
	}
	return nil
}

func recordLock(ctx context.Context, sys *store.System, l store.AccountLock) error {
	users, err := sys.People().UsersByAddress(ctx, l.Account)
	if err != nil {
		return err
	}
	events := map[connectors.TenantID]store.Event{}
	for _, u := range users {
		all, err := sys.People().Memberships(ctx, u.ID)
		if err != nil {
			return err
		}
		for _, m := range passwordMemberships(all) {
			events[m.Tenant.ID] = store.Event{
				ActorType: "system", ActorName: "Patchbay", Action: "account.lock", Target: m.Email, IP: l.Address,
				Detail: map[string]any{"user_id": u.ID.String(), "locked_at": l.At, "wrong_passwords": maxFailures},
			}
		}
	}
	return sys.RecordLock(ctx, l, events)
}
