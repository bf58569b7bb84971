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

// rotationPoll is how often a rotation looks whether it can go on.
const rotationPoll = 200 * time.Millisecond

func (r *rotation) add(ctx context.Context) error {
	return r.change(ctx, stageSettled, KeyAdded, func(s scope, k *secret.Sealer) (*secret.Sealer, error) {
		for {
			next, err := k.WithNewKey()
			if err != nil {
				return nil, err
			}
			// An id is 32 random bits. One that was retired would be refused for ever.
			retired, err := r.of.isRetired(ctx, dbgen.New(s), next.Newest().Prefix())
			if err != nil {
				return nil, err
			}
			if !retired {
				return next, r.record(ctx, s)
			}
		}
	})
}

// record appends, in the transaction that adds a key of one tenant, that somebody replaces it. The installation's keys are no tenant's.
func (r *rotation) record(ctx context.Context, s scope) error {
	of, one := r.of.(oneTenantsKeys)
	if !one || r.asked == nil {
		return nil
	}
	return record(ctx, dbgen.New(s), of.id, *r.asked)
}

func (r *rotation) promote(ctx context.Context) error {
	return r.change(ctx, stageAdded, KeyPromoted, func(_ scope, k *secret.Sealer) (*secret.Sealer, error) { return k.Promoted() })
}

// divide has the tenants' keys seal from now on. Every living process understands them.
func (r *rotation) divide(ctx context.Context) error {
	err := dbgen.New(r.scope).DivideByTenant(ctx)
	if err == nil {
		r.notify(RotationProgress{Step: TenantsDivided})
	}
	return err
}

// errNotYet says that the old keys may still be in use.
var errNotYet = errors.New("the old keys may be in use")

// finish seals anew until nothing is left that could be, and retires the old keys.
func (r *rotation) finish(ctx context.Context) error {
	again := time.NewTicker(rotationPoll)
	defer again.Stop()
	for {
		// What nobody will open any more need not be opened now.
		if err := dbgen.New(r.scope).DropExpiredFlows(ctx); err != nil {
			return err
		}
		unreadable, err := r.reseal(ctx)
		if err != nil {
			return err
		}
		if err := r.retire(ctx, len(unreadable)); !errors.Is(err, errNotYet) {
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

// retire drops the old keys where nothing is sealed by them. Nobody can be about to write such a thing: writers whose rows we
// cannot see yet hold the lock, and later ones are refused.
func (r *rotation) retire(ctx context.Context, unreadable int) error {
	return r.change(ctx, stagePromoted, OldKeysRetired, func(s scope, k *secret.Sealer) (*secret.Sealer, error) {
		q := dbgen.New(s)
		if locked, err := q.TryLockSealed(ctx); err != nil || !locked {
			return nil, errors.Join(err, errNotYet)
		}
		rest, err := r.left(ctx, s)
		switch {
		case err != nil:
			return nil, err
		case rest > unreadable:
			return nil, errNotYet
		case rest > 0:
			return nil, unreadableFault(rest)
		}
		for _, id := range k.Keys() {
			if id == k.Primary() {
				continue
			}
			if err := r.of.retire(ctx, q, id.Prefix()); err != nil {
				return nil, err
			}
		}
		return k.Retired()
	})
}

func unreadableFault(n int) error {
	what := fmt.Sprintf("%d secrets cannot be opened by any key and were left as they are", n)
	if n == 1 {
		what = "1 secret cannot be opened by any key and was left as it is"
	}
	return fault.Errorf(fault.Conflict, "%s, so the old key stays. Set or delete what is listed, and run patchbay keys rotate again.", what)
}

// change stores what next makes of the stored keys, as a new generation, where the rotation is at the given stage.
func (r *rotation) change(ctx context.Context, at stage, done RotationStep, next func(scope, *secret.Sealer) (*secret.Sealer, error)) error {
	changed := false
	err := r.scope.inTx(ctx, func(s scope) error {
		have, err := r.of.locked(ctx, s, r.keys)
		if err != nil || stageOf(have) != at {
			return err
		}
		changed = true
		k, err := next(s, have)
		if err != nil {
			return err
		}
		return r.of.replace(ctx, s, r.keys, k)
	})
	if err == nil && changed {
		r.notify(RotationProgress{Step: done})
	}
	return err
}

// awaitReaders waits until every living process has the keys of a generation.
func (r *rotation) awaitReaders(ctx context.Context, generation int) error {
	again, patience := time.NewTicker(rotationPoll), time.After(r.patience)
	defer again.Stop()
	for said := -1; ; {
		n, err := dbgen.New(r.scope).InstancesOfGeneration(ctx, int32(generation))
		if err != nil || n.Ready == n.Alive {
			return err
		}
		if int(n.Ready) != said {
			said = int(n.Ready)
			r.notify(RotationProgress{Step: ReadersAwaited, Done: said, Total: int(n.Alive)})
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-patience:
			return fault.Errorf(fault.Unavailable,
				"%d of %d servers have not read the new keys: are they of an older version? Upgrade or stop them, and run patchbay keys rotate again.", n.Alive-n.Ready, n.Alive)
		}
	}
}
