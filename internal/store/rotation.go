package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// readersPatience is how long a rotation waits for processes to read the new keys. They look every two seconds.
const readersPatience = time.Minute

// RotationStep is a kind of progress.
type RotationStep int

// The steps, in their order.
const (
	RotationResumed  RotationStep = iota // an earlier one was cut off: this one goes on with it
	KeyAdded                             // a new key, which opens and does not seal yet
	ReadersAwaited                       // Done of Total living processes have the newest keys
	KeyPromoted                          // the new key seals
	SecretsResealed                      // Done of Total rows
	SecretUnreadable                     // no key opens Row
	OldKeysRetired                       // nothing is sealed by them, and nothing can be
	TenantsDivided                       // each tenant's own key seals its secrets
	BearersKept                          // Done API keys, Total tokens of agents and Codes are recognised by an older key, which stays
)

// RotationProgress is what a rotation just did.
type RotationProgress struct {
	Step        RotationStep
	Done, Total int
	Codes       int // recovery codes
	Row         string
}

// RotationOptions say how a rotation is watched. The zero value is useful.
type RotationOptions struct {
	Notify   func(RotationProgress) // nil: nobody listens
	Asked    *Event                 // the tenant's entry of who replaces its own key; nil: none
	Patience time.Duration          // for processes that do not read the new keys; 0: a minute
}

// RotateSealingKeys replaces the installation's key, which seals the tenants' keys, while other processes go on using them. What is
// next is read from the database alone, so one that was cut off, at whatever moment, goes on when it is begun again:
//
//  1. There is one key: add another, which does not seal yet.
//  2. The newest does not seal: wait until every living process has it, then let it seal. In the other order a process would
//     meet secrets that it cannot open.
//  3. Others stand beside it: wait until every living process seals by the newest, seal anew what the others sealed, and when
//     that is nothing, retire them. In the other order there would be no end of what the old one seals.
//
// On an installation that is older than tenants' keys it has them seal from then on, and moves every secret to its tenant's key.
//
// It is a Conflict where another rotation is under way, and where rows are left that no key opens: then the old keys stay.
func (s *Store) RotateSealingKeys(ctx context.Context, o RotationOptions) error {
	return s.rotate(ctx, installationKeys{}, o)
}

// RotateTenantKeys is the same for one tenant's own key, which seals its secrets. It is a Conflict, too, as long as the installation's
// key seals them.
func (s *Store) RotateTenantKeys(ctx context.Context, id connectors.TenantID, o RotationOptions) error {
	if _, err := s.keyring.catchUp(ctx); err != nil {
		return err
	}
	have := s.keyring.now.Load()
	if !have.perTenant {
		return fault.Errorf(fault.Conflict, "The installation's key still seals the secrets of all tenants. Run patchbay keys rotate without a tenant first.")
	}
	if _, err := s.keyring.tenantSealerOrNew(ctx, systemScope(s.pool), have, id.String()); err != nil {
		return err
	}
	return s.rotate(ctx, oneTenantsKeys{id}, o)
}

func (s *Store) rotate(ctx context.Context, of rotated, o RotationOptions) error {
	r := &rotation{scope: systemScope(s.pool), keys: s.keyring, of: of, asked: o.Asked, notify: o.Notify, patience: o.Patience}
	if r.notify == nil {
		r.notify = func(RotationProgress) {}
	}
	if r.patience == 0 {
		r.patience = readersPatience
	}
	return s.alone(ctx, func() error { return r.run(ctx) })
}

// alone runs fn while no other process rotates. The lock is held on a connection of its own, because a pool may have one alone;
// by a transaction, because behind a pooler a session is not ours; and ends with us, however we end. Should it be lost on the way,
// that does no harm: each step looks again whether it is still its turn.
func (s *Store) alone(ctx context.Context, fn func() error) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return classify(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return classify(err)
	}
	defer func() { // a connection that is closed alone keeps the lock until the server notices
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
		defer cancel()
		_ = tx.Rollback(ctx)
	}()
	if _, err := tx.Exec(ctx, "set local idle_in_transaction_session_timeout = 0"); err != nil {
		return classify(err)
	}
	locked, err := dbgen.New(tx).TryLockRotation(ctx)
	if err != nil {
		return classify(err)
	}
	if !locked {
		return fault.Errorf(fault.Conflict, "A rotation of the keys is under way already.")
	}
	return fn()
}

// SealingKeys tells how many keys the installation had when this process last read them, whether a rotation is not at its end, and
// whether they seal the tenants' keys alone, and not their secrets.
func (s *Store) SealingKeys() (n int, unfinished, perTenant bool) {
	k := s.keyring.now.Load()
	return len(k.Keys()), stageOf(k.Sealer) != stageSettled, k.perTenant
}

// KeysMoving tells whether the installation was being moved to another PATCHBAY_KEYSET when this process last read its keys.
func (s *Store) KeysMoving() bool { return s.keyring.now.Load().moving }

// stage is how far a rotation is.
type stage int

const (
	stageSettled  stage = iota // one key
	stageAdded                 // the newest key does not seal
	stagePromoted              // the newest key seals, and there are others
)

func stageOf(k *secret.Sealer) stage {
	switch {
	case len(k.Keys()) == 1:
		return stageSettled
	case k.Primary() != k.Newest():
		return stageAdded
	}
	return stagePromoted
}

type rotation struct {
	scope    scope
	keys     *ring
	of       rotated
	asked    *Event
	notify   func(RotationProgress)
	patience time.Duration

	resealed int
}

func (r *rotation) run(ctx context.Context) error {
	for begun := false; ; begun = true {
		if _, err := r.keys.catchUp(ctx); err != nil {
			return err
		}
		have := r.keys.now.Load()
		sealer, err := r.of.stored(ctx, r.scope, have)
		if err != nil {
			return err
		}
		now := stageOf(sealer)
		switch {
		case now == stageSettled && begun:
			return nil // another has ended it
		case now != stageSettled && !begun:
			r.notify(RotationProgress{Step: RotationResumed})
		}
		last := now == stagePromoted && have.perTenant
		if err := r.step(ctx, now, have); err != nil {
			return err
		}
		if last && !r.of.one() {
			return r.tellBearersKept(ctx)
		}
		if last {
			return nil
		}
	}
}

func (r *rotation) step(ctx context.Context, now stage, have *keys) error {
	if now == stageSettled {
		return r.add(ctx)
	}
	if err := r.awaitReaders(ctx, have.generation); err != nil {
		return err
	}
	switch {
	case now == stageAdded:
		return r.promote(ctx)
	case !have.perTenant:
		return r.divide(ctx)
	}
	return r.finish(ctx)
}
