package store

import (
	"context"
	"errors"
	"fmt"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// The purposes of the two stored keysets.
const (
	purposeSeal = "seal"
	purposeMAC  = "mac"
)

// loadKeyring opens the stored keyring, or makes it where there is none.
func loadKeyring(ctx context.Context, s scope, kek secret.KEK) (*secret.Keyring, error) {
	var keyring *secret.Keyring
	err := s.inTx(ctx, func(s scope) error {
		q := dbgen.New(s)
		if err := q.LockKeysets(ctx); err != nil {
			return err
		}
		rows, err := q.Keysets(ctx)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			keyring, err = makeKeyring(ctx, q, kek)
		} else {
			keyring, err = openKeyring(rows, kek)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return keyring, nil
}

func makeKeyring(ctx context.Context, q *dbgen.Queries, kek secret.KEK) (*secret.Keyring, error) {
	if kek.IsZero() {
		return nil, fault.Errorf(fault.Unavailable, "PATCHBAY_KEYSET is not set, and this database has no keys yet.")
	}
	keyring, err := secret.NewKeyring()
	if err != nil {
		return nil, err
	}
	wrapped, err := keyring.Wrap(kek)
	if err != nil {
		return nil, err
	}
	if err := q.SaveKeyset(ctx, purposeSeal, wrapped.Seal); err != nil {
		return nil, err
	}
	return keyring, q.SaveKeyset(ctx, purposeMAC, wrapped.MAC)
}

func openKeyring(rows []dbgen.KeysetsRow, kek secret.KEK) (*secret.Keyring, error) {
	stored := map[string][]byte{}
	for _, r := range rows {
		stored[r.Purpose] = r.Wrapped
	}
	wrapped := secret.Wrapped{Seal: stored[purposeSeal], MAC: stored[purposeMAC]}
	if wrapped.Seal == nil || wrapped.MAC == nil {
		return nil, fault.Errorf(fault.Unavailable, "One of the two keysets stored in this database is missing. Restore the table keysets from a backup.")
	}
	keyring, err := secret.Unwrap(kek, wrapped)
	if errors.Is(err, secret.ErrWrongKEK) {
		return nil, fault.Wrap(fault.Unavailable, err, "PATCHBAY_KEYSET does not open the keys stored in this database.")
	}
	if err != nil {
		return nil, fmt.Errorf("open the stored keyring: %w", err)
	}
	return keyring, nil
}
