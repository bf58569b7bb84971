package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// rotated is whose keys a rotation replaces: the installation's, or one tenant's.
type rotated interface {
	one() bool       // of one tenant alone
	param(*keys) any // what tells the rows that are sealed by another key, in sealedPlace.elsewhere
	stored(context.Context, scope, *keys) (*secret.Sealer, error)
	locked(context.Context, scope, *ring) (*secret.Sealer, error) // until the transaction ends
	replace(context.Context, scope, *ring, *secret.Sealer) error
	isRetired(ctx context.Context, q *dbgen.Queries, prefix []byte) (bool, error)
	retire(ctx context.Context, q *dbgen.Queries, prefix []byte) error
}

type installationKeys struct{}

func (installationKeys) one() bool { return false }

func (installationKeys) param(have *keys) any { return have.Primary().Prefix() }

func (installationKeys) stored(_ context.Context, _ scope, have *keys) (*secret.Sealer, error) {
	return have.Sealer, nil
}

func (installationKeys) locked(ctx context.Context, s scope, r *ring) (*secret.Sealer, error) {
	q := dbgen.New(s)
	if err := q.LockKeysets(ctx); err != nil {
		return nil, err
	}
	rows, err := q.Keysets(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Moving != nil { // of two copies this process could wrap one
			return nil, fault.Errorf(fault.Conflict, "The installation is being moved to another PATCHBAY_KEYSET. Run patchbay keys rewrap to its end first.")
		}
	}
	have, err := r.now.Load().reopened(rows, r.kek)
	if err != nil {
		return nil, err
	}
	return have.Sealer, nil
}

func (installationKeys) replace(ctx context.Context, s scope, r *ring, sealer *secret.Sealer) error {
	q := dbgen.New(s)
	rows, err := q.Keysets(ctx) // as locked has read them
	if err != nil {
		return err
	}
	have, err := r.now.Load().reopened(rows, r.kek)
	if err != nil {
		return err
	}
	keyring, err := authenticating(ctx, q, have.Keyring, stageOf(sealer))
	if err != nil {
		return err
	}
	wrapped, err := keyring.With(sealer).WrapWith(r.kek)
	if err != nil {
		return err
	}
	if err := q.ReplaceMACKeys(ctx, wrapped.MAC, int32(keyring.Version())); err != nil {
		return err
	}
	_, err = q.ReplaceSealingKeys(ctx, wrapped.Seal)
	return err
}

func (installationKeys) isRetired(ctx context.Context, q *dbgen.Queries, prefix []byte) (bool, error) {
	return q.IsRetiredKey(ctx, prefix)
}

func (installationKeys) retire(ctx context.Context, q *dbgen.Queries, prefix []byte) error {
	return q.RetireKey(ctx, prefix)
}

type oneTenantsKeys struct{ id connectors.TenantID }

func (oneTenantsKeys) one() bool { return true }

func (o oneTenantsKeys) param(*keys) any { return o.id }

// stored is read anew: what is in memory may be older than the step before this.
func (o oneTenantsKeys) stored(ctx context.Context, s scope, have *keys) (*secret.Sealer, error) {
	wrapped, err := dbgen.New(s).TenantKeys(ctx, o.id)
	if err != nil {
		return nil, found(err, "tenant")
	}
	return have.Unwrap(wrapped, tenantKeyPlace(o.id.String()))
}

func (o oneTenantsKeys) locked(ctx context.Context, s scope, r *ring) (*secret.Sealer, error) {
	wrapped, err := dbgen.New(s).LockedTenantKeys(ctx, o.id)
	if err != nil {
		return nil, found(err, "tenant")
	}
	return r.now.Load().Unwrap(wrapped, tenantKeyPlace(o.id.String()))
}

func (o oneTenantsKeys) replace(ctx context.Context, s scope, r *ring, sealer *secret.Sealer) error {
	wrapped, err := r.now.Load().Wrap(sealer, tenantKeyPlace(o.id.String()))
	if err != nil {
		return err
	}
	q := dbgen.New(s)
	if err := q.ReplaceTenantKeys(ctx, wrapped, sealer.Primary().Prefix(), o.id); err != nil {
		return err
	}
	return q.ChangedTenantKeys(ctx)
}

func (o oneTenantsKeys) isRetired(ctx context.Context, q *dbgen.Queries, prefix []byte) (bool, error) {
	return q.IsRetiredTenantKey(ctx, o.id, prefix)
}

func (o oneTenantsKeys) retire(ctx context.Context, q *dbgen.Queries, prefix []byte) error {
	return q.RetireTenantKey(ctx, o.id, prefix)
}
