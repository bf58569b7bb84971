package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
)

// AccountLock is a wrong password that locked the accounts of an e-mail address.
type AccountLock struct {
	ID      int64
	Account string // e-mail address
	Address string // or network of the attempt
	At      time.Time
}

// UnrecordedLocks finds accounts locked since a time by most wrong passwords within a window, and not in any
// audit log; at most 100.
func (s *System) UnrecordedLocks(ctx context.Context, most int, window time.Duration, since time.Time) ([]AccountLock, error) {
	rows, err := s.q.UnrecordedLocks(ctx, int32(most-1), since, window.Seconds())
	if err != nil {
		return nil, err
	}
	all := make([]AccountLock, len(rows))
	for i, r := range rows {
		all[i] = AccountLock{ID: r.ID, Account: r.Account, Address: r.Address, At: r.At.UTC()}
	}
	return all, nil
}

// RecordLock appends a lock to tenants' audit logs, once even if called concurrently.
func (s *System) RecordLock(ctx context.Context, l AccountLock, events map[connectors.TenantID]Event) error {
	return s.inTx(ctx, func(tx *System) error {
		n, err := tx.q.MarkLockRecorded(ctx, l.ID)
		if err != nil || n == 0 {
			return err
		}
		for id, event := range events {
			if err := tx.tenantInTx(id).Audit().Record(ctx, event); err != nil {
				return err
			}
		}
		return nil
	})
}
