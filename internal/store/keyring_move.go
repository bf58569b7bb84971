package store

import (
	"context"
	"errors"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// KeysMove is how far a move of the installation's keys is.
type KeysMove struct {
	Done       bool // nothing but the new key opens them
	Begun      bool // by this call
	Ready, All int  // how many of the living processes have the new key
}

// MoveKeys has another key wrap the installation's keys, which stay as they are: to, and where a KMS holds that, the URI of it. Both open them
// until every living process has the new one, which it has from its start, so that whoever moves calls this, starts the processes anew, and
// calls it again. What is next is read from the database alone. With the key that wrapped them before, it takes a move back that is not done.
//
// It is a Conflict while they are being moved elsewhere, and while a rotation or another call of this is under way.
func (s *Store) MoveKeys(ctx context.Context, to secret.KEK, uri string) (m KeysMove, err error) {
	err = s.alone(ctx, func() error {
		return systemScope(s.pool).inTx(ctx, func(tx scope) error {
			m, err = s.keyring.move(ctx, dbgen.New(tx), to, uri)
			return err
		})
	})
	return m, err
}

func (r *ring) move(ctx context.Context, q *dbgen.Queries, to secret.KEK, uri string) (m KeysMove, err error) {
	if err := q.LockKeysets(ctx); err != nil {
		return m, err
	}
	rows, err := q.Keysets(ctx)
	if err != nil {
		return m, err
	}
	end := q.EndMove
	switch at, err := placeOf(rows, to); {
	case err != nil:
		return m, err
	case at == movedThere:
		return KeysMove{Done: true}, q.DropOtherKMSKeys(ctx, uri)
	case at == movingAway:
		end = q.AbandonMove
	case at == notMoving:
		m.Begun = true
		if err := r.copyFor(ctx, q, rows, to); err != nil {
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
	return m, q.DropOtherKMSKeys(ctx, uri)
}

// copyFor stores a second copy of the keys, as they are stored now.
func (r *ring) copyFor(ctx context.Context, q *dbgen.Queries, rows []dbgen.KeysetsRow, to secret.KEK) error {
	have, err := openKeyring(rows, r.kek)
	if err != nil {
		return err
	}
	wrapped, err := have.WrapWith(to)
	if err != nil {
		return err
	}
	if err := q.MoveKeyset(ctx, wrapped.Seal, purposeSeal); err != nil {
		return err
	}
	return q.MoveKeyset(ctx, wrapped.MAC, purposeMAC)
}

// movePlace is how the stored keys stand to a key.
type movePlace int

const (
	notMoving   movePlace = iota // another one wraps them
	movingThere                  // it wraps the second copy
	movedThere                   // it alone wraps them
	movingAway                   // it wraps them, and another one the second copy
)

func placeOf(rows []dbgen.KeysetsRow, kek secret.KEK) (movePlace, error) {
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
		return movedThere, nil
	case err == nil:
		return movingAway, nil
	case second.Seal == nil:
		return notMoving, nil
	}
	_, err = secret.Unwrap(kek, second)
	if errors.Is(err, secret.ErrWrongKEK) {
		return 0, fault.Errorf(fault.Conflict,
			"The installation is being moved to another PATCHBAY_KEYSET already. Run that to its end, or take it back with patchbay keys rewrap --to what it was before.")
	}
	return movingThere, err
}
