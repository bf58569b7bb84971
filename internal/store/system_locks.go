package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
)

// Lock is a wrong password that locked the accounts of an e-mail address.
type Lock struct {
	ID      int64
	Account string // the e-mail address
	Address string // or network, that it came from
	At      time.Time
}

// UntoldLocks finds accounts that were locked since a time, by so many wrong passwords within a window, and of which no audit log tells; 100
// at most.
func (s *System) UntoldLocks(ctx context.Context, most int, window time.Duration, since time.Time) ([]Lock, error) {
	rows, err := s.q.UntoldLocks(ctx, int32(most-1), since, window.Seconds())
	if err != nil {
		return nil, err
	}
	all := make([]Lock, len(rows))
	for i, r := range rows {
		all[i] = Lock{ID: r.ID, Account: r.Account, Address: r.Address, At: r.At.UTC()}
	}
	return all, nil
}

// TellLock puts a lock on record in tenants, once, whoever else does at the same time.
func (s *System) TellLock(ctx context.Context, l Lock, events map[connectors.TenantID]Event) error {
	return s.tx(ctx, func(tx *System) error {
		n, err := tx.q.TellLock(ctx, l.ID)
		if err != nil || n == 0 {
			return err
		}
		for id, event := range events {
			if err := tx.tenant(id).Record(ctx, event); err != nil {
				return err
			}
		}
		return nil
	})
}
