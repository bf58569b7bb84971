package store

import (
	"context"
	"errors"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// KeysMove is the progress of moving the installation's keys to another KEK.
type KeysMove struct {
	Done       bool // only the new KEK opens them
	Begun      bool // by this call
	Ready, All int  // live processes with the new KEK, and all
}

// MoveKeys wraps the installation's keys by another KEK; uri is the KMS key that holds it, if any. The keys
// themselves stay the same. Both KEKs open them until every live process was started with the new one. So the
// operator calls MoveKeys, restarts the processes, and calls it again. The next step is derived from the
// database alone. A call with the old KEK undoes an unfinished move.
//
// It fails with Conflict during another move, rotation or call of MoveKeys.
func (s *Store) MoveKeys(ctx context.Context, to secret.KEK, uri string) (m KeysMove, err error) {
	err = s.withRotationLock(ctx, func() error {
		return systemScope(s.pool).inTx(ctx, func(tx scope) error {
			m, err = s.keyring.moveKEK(ctx, dbgen.New(tx), to, uri)
			return err
		})
	})
	return m, err
}

func (k *liveKeyring) moveKEK(ctx context.Context, q *dbgen.Queries, to secret.KEK, uri string) (m KeysMove, err error) {
	if err := q.LockKeysets(ctx); err != nil {
		return m, err
	}
	rows, err := q.Keysets(ctx)
	if err != nil {
		return m, err
	}
	end := q.FinishKeysetMove
	switch at, err := findMoveState(rows, to); {
	case err != nil:
		return m, err
	case at == movedTo:
		return KeysMove{Done: true}, q.DeleteOtherKMSKeys(ctx, uri)
	case at == movingFrom:
		end = q.CancelKeysetMove
	case at == notMoving:
		m.Begun = true
		if err := k.storeCopy(ctx, q, rows, to); err != nil {
			return m, err
		}
	}
	n, err := q.InstancesWithKEK(ctx, to.ID())
	if err != nil {
		return m, err
	}
	m.Ready, m.All = int(n.Ready), int(n.Alive)
	if m.Ready < m.All {
		return m, nil
	}
	if err := end(ctx); err != nil {
		return m, err
	}
	m.Done = true
	return m, q.DeleteOtherKMSKeys(ctx, uri)
}

// storeCopy stores a second copy of the keys, wrapped by to.
func (k *liveKeyring) storeCopy(ctx context.Context, q *dbgen.Queries, rows []dbgen.KeysetsRow, to secret.KEK) error {
	have, err := openKeyring(rows, k.kek)
	if err != nil {
		return err
	}
	wrapped, err := have.WrapWith(to)
	if err != nil {
		return err
	}
	if err := q.SetKeysetMoving(ctx, wrapped.Seal, purposeSeal); err != nil {
		return err
	}
	return q.SetKeysetMoving(ctx, wrapped.MAC, purposeMAC)
}

// moveState is the state of a move from the view of one KEK.
type moveState int

const (
	notMoving  moveState = iota // another KEK wraps the keys
	movingTo                    // this KEK wraps the second copy
	movedTo                     // only this KEK wraps the keys
	movingFrom                  // this KEK wraps the keys, another the second copy
)

func findMoveState(rows []dbgen.KeysetsRow, kek secret.KEK) (moveState, error) {
	var first, second secret.Wrapped
	for _, row := range rows {
		switch row.Purpose {
		case purposeSeal:
			first.Seal, second.Seal = row.Wrapped, row.Moving
		case purposeMAC:
			first.MAC, second.MAC = row.Wrapped, row.Moving
		}
	}
	_, err := secret.Unwrap(kek, first)
	switch wrong := errors.Is(err, secret.ErrWrongKEK); {
	case err != nil && !wrong:
		return 0, err
	case err == nil && second.Seal == nil:
		return movedTo, nil
	case err == nil:
		return movingFrom, nil
	case second.Seal == nil:
		return notMoving, nil
	}
	_, err = secret.Unwrap(kek, second)
	if errors.Is(err, secret.ErrWrongKEK) {
		return 0, fault.Errorf(fault.Conflict,
			"The installation is already moving to another PATCHBAY_KEYSET. Finish that, or undo it with patchbay keys rewrap --to and the previous value.")
	}
	return movingTo, err
}
