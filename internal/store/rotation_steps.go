package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// rotationPoll is the interval of checks whether the rotation can continue.
const rotationPoll = 200 * time.Millisecond

func (r *rotation) addKey(ctx context.Context) error {
	return r.storeKeys(ctx, stageSingle, KeyAdded, func(s scope, k *secret.Sealer) (*secret.Sealer, error) {
		for {
			next, err := k.WithNewKey()
			if err != nil {
				return nil, err
			}
			// An id is 32 random bits. A retired one would be refused for ever.
			retired, err := r.target.isRetired(ctx, dbgen.New(s), next.Newest().Prefix())
			if err != nil {
				return nil, err
			}
			if !retired {
				return next, r.recordRotation(ctx, s)
			}
		}
	})
}

// recordRotation appends the audit entry in the transaction that adds a tenant's key. The installation's keys
// belong to no tenant.
func (r *rotation) recordRotation(ctx context.Context, s scope) error {
	of, one := r.target.(singleTenantKeys)
	if !one || r.auditEvent == nil {
		return nil
	}
	return recordEvent(ctx, dbgen.New(s), of.id, *r.auditEvent)
}

func (r *rotation) promoteKey(ctx context.Context) error {
	return r.storeKeys(ctx, stageAdded, KeyPromoted, func(_ scope, k *secret.Sealer) (*secret.Sealer, error) { return k.Promoted() })
}

// enableTenantKeys makes tenants' keys seal from now on. Every live process supports them.
func (r *rotation) enableTenantKeys(ctx context.Context) error {
	err := dbgen.New(r.scope).EnableTenantKeys(ctx)
	if err == nil {
		r.notify(RotationProgress{Step: TenantKeysEnabled})
	}
	return err
}

// errOldKeysInUse means that old keys may still be in use.
var errOldKeysInUse = errors.New("the old keys may be in use")

// resealAndRetire reseals until no row is left that can be, and retires the old keys.
func (r *rotation) resealAndRetire(ctx context.Context) error {
	again := time.NewTicker(rotationPoll)
	defer again.Stop()
	for {
		// Expired flows are never opened, so they need no resealing.
		if err := dbgen.New(r.scope).DeleteExpiredFlows(ctx); err != nil {
			return err
		}
		unreadable, err := r.resealTables(ctx)
		if err != nil {
			return err
		}
		if err := r.retireKeys(ctx, len(unreadable)); !errors.Is(err, errOldKeysInUse) {
			if fault.Is(err, fault.Conflict) {
				for _, row := range unreadable {
					r.notify(RotationProgress{Step: SecretUnreadable, Row: row})
				}
			}
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// retireKeys drops the old keys if nothing is sealed by them. No write with them can be pending: earlier
// writers hold the lock, later ones are refused.
func (r *rotation) retireKeys(ctx context.Context, unreadable int) error {
	return r.storeKeys(ctx, stagePromoted, OldKeysRetired, func(s scope, k *secret.Sealer) (*secret.Sealer, error) {
		q := dbgen.New(s)
		if locked, err := q.TryLockSealed(ctx); err != nil || !locked {
			return nil, errors.Join(err, errOldKeysInUse)
		}
		rest, err := r.countRemaining(ctx, s)
		switch {
		case err != nil:
			return nil, err
		case rest > unreadable:
			return nil, errOldKeysInUse
		case rest > 0:
			return nil, unreadableFault(rest)
		}
		for _, id := range k.Keys() {
			if id == k.Primary() {
				continue
			}
			if err := r.target.retireKey(ctx, q, id.Prefix()); err != nil {
				return nil, err
			}
		}
		return k.Retired()
	})
}

func unreadableFault(n int) error {
	what := fmt.Sprintf("No key opens %d secrets, which are unchanged", n)
	if n == 1 {
		what = "No key opens 1 secret, which is unchanged"
	}
	return fault.Errorf(fault.Conflict, "%s. The old key is kept. Set them again or delete them, then run patchbay keys rotate.", what)
}

// storeKeys stores what next makes of the stored keys, as a new generation, if the rotation is at stage at.
func (r *rotation) storeKeys(ctx context.Context, at rotationStage, done RotationStep, next func(scope, *secret.Sealer) (*secret.Sealer, error)) error {
	changed := false
	err := r.scope.inTx(ctx, func(s scope) error {
		have, err := r.target.lockSealer(ctx, s, r.keys)
		if err != nil || findStage(have) != at {
			return err
		}
		changed = true
		k, err := next(s, have)
		if err != nil {
			return err
		}
		return r.target.storeSealer(ctx, s, r.keys, k)
	})
	if err == nil && changed {
		r.notify(RotationProgress{Step: done})
	}
	return err
}

// awaitReaders waits until every live process has the keys of a generation.
func (r *rotation) awaitReaders(ctx context.Context, generation int) error {
	again, patience := time.NewTicker(rotationPoll), time.After(r.timeout)
	defer again.Stop()
	for reported := -1; ; {
		n, err := dbgen.New(r.scope).InstancesOfGeneration(ctx, int32(generation))
		if err != nil || n.Ready == n.Alive {
			return err
		}
		if int(n.Ready) != reported {
			reported = int(n.Ready)
			r.notify(RotationProgress{Step: ReadersAwaited, Done: reported, Total: int(n.Alive)})
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-patience:
			return fault.Errorf(fault.Unavailable,
				"%d of %d Patchbay servers haven't loaded the new keys. Upgrade or stop them, then run patchbay keys rotate again.", n.Alive-n.Ready, n.Alive)
		}
	}
}
