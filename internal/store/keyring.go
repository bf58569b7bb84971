package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// Purposes of the two stored keysets.
const (
	purposeSeal = "seal"
	purposeMAC  = "mac"
)

// CheckKey fails with a fault if kek does not open the keys of a database, and writes nothing. A database
// without keys is fine, and its schema may be older: so a wrong key is reported before migrations run.
func CheckKey(ctx context.Context, pool *pgxpool.Pool, kek secret.KEK) error {
	rows, err := dbgen.New(systemScope(pool)).WrappedKeysets(ctx)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && (pg.Code == "42P01" || pg.Code == "42501") {
		return nil // no such table, or not owned by us
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	var stored []dbgen.KeysetsRow
	for _, r := range rows {
		stored = append(stored, dbgen.KeysetsRow{Purpose: r.Purpose, Wrapped: r.Wrapped, Moving: r.Moving})
	}
	_, err = openKeyring(stored, kek)
	return err
}

// loadKeyring opens the stored keyring, or makes it if there is none.
func loadKeyring(ctx context.Context, s scope, kek secret.KEK) (keyringSnapshot, error) {
	var loaded keyringSnapshot
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
			loaded, err = makeKeyring(ctx, q, kek)
		} else {
			loaded, err = openKeyring(rows, kek)
		}
		return err
	})
	return loaded, err
}

func makeKeyring(ctx context.Context, q *dbgen.Queries, kek secret.KEK) (keyringSnapshot, error) {
	if kek.IsZero() {
		return keyringSnapshot{}, fault.Errorf(fault.Unavailable, "PATCHBAY_KEYSET isn't set, and this database has no keys yet.")
	}
	keyring, err := secret.NewKeyring()
	if err != nil {
		return keyringSnapshot{}, err
	}
	wrapped, err := keyring.WrapWith(kek)
	if err != nil {
		return keyringSnapshot{}, err
	}
	if err := q.SaveKeyset(ctx, purposeSeal, wrapped.Seal); err != nil {
		return keyringSnapshot{}, err
	}
	return keyringSnapshot{Keyring: keyring, wrapped: wrapped.Seal, wrappedMAC: wrapped.MAC, generation: firstGeneration, perTenant: true}, q.SaveKeyset(ctx, purposeMAC, wrapped.MAC)
}

func openKeyring(rows []dbgen.KeysetsRow, kek secret.KEK) (keyringSnapshot, error) {
	stored := map[string]dbgen.KeysetsRow{}
	for _, r := range rows {
		stored[r.Purpose] = r
	}
	wrapped := secret.Wrapped{Seal: stored[purposeSeal].Wrapped, MAC: stored[purposeMAC].Wrapped}
	if wrapped.Seal == nil || wrapped.MAC == nil {
		return keyringSnapshot{}, fault.Errorf(fault.Unavailable, "One of this database's two keysets is missing. Restore the keysets table from a backup.")
	}
	moving := secret.Wrapped{Seal: stored[purposeSeal].Moving, MAC: stored[purposeMAC].Moving}
	keyring, err := secret.Unwrap(kek, wrapped)
	if errors.Is(err, secret.ErrWrongKEK) && len(moving.Seal) > 0 { // while they move, two keys open them
		keyring, err = secret.Unwrap(kek, moving)
	}
	if errors.Is(err, secret.ErrWrongKEK) {
		return keyringSnapshot{}, fault.Wrap(fault.Unavailable, err, "PATCHBAY_KEYSET can't decrypt this database's keys. Set the one that it was created with.")
	}
	if err != nil {
		return keyringSnapshot{}, fmt.Errorf("open the stored keyring: %w", err)
	}
	seal, mac := stored[purposeSeal], stored[purposeMAC]
	return keyringSnapshot{
		Keyring: keyring.OfVersion(int(mac.Version)), wrapped: seal.Wrapped, wrappedMAC: mac.Wrapped, generation: int(seal.Generation), perTenant: seal.PerTenant, moving: len(moving.Seal) > 0,
	}, nil
}
