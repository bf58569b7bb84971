package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// rotationTarget is the owner of the keys that a rotation replaces: the installation, or one tenant.
type rotationTarget interface {
	isSingleTenant() bool          // of a single tenant
	sqlParam(*keyringSnapshot) any // parameter of sealedTable.otherKeyCondition
	loadSealer(context.Context, scope, *keyringSnapshot) (*secret.Sealer, error)
	lockSealer(context.Context, scope, *liveKeyring) (*secret.Sealer, error) // until the transaction ends
	storeSealer(context.Context, scope, *liveKeyring, *secret.Sealer) error
	isRetired(ctx context.Context, q *dbgen.Queries, prefix []byte) (bool, error)
	retireKey(ctx context.Context, q *dbgen.Queries, prefix []byte) error
}

type installationKeys struct{}

func (installationKeys) isSingleTenant() bool { return false }

func (installationKeys) sqlParam(have *keyringSnapshot) any { return have.Primary().Prefix() }

func (installationKeys) loadSealer(_ context.Context, _ scope, have *keyringSnapshot) (*secret.Sealer, error) {
	return have.Sealer, nil
}

func (installationKeys) lockSealer(ctx context.Context, s scope, r *liveKeyring) (*secret.Sealer, error) {
	q := dbgen.New(s)
	if err := q.LockKeysets(ctx); err != nil {
		return nil, err
	}
	rows, err := q.Keysets(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Moving != nil { // this process could wrap only one of two copies
			return nil, fault.Errorf(fault.Conflict, "The installation is moving to another PATCHBAY_KEYSET. Finish patchbay keys rewrap first.")
		}
	}
	have, err := r.current.Load().reopenKeys(rows, r.kek)
	if err != nil {
		return nil, err
	}
	return have.Sealer, nil
}

func (installationKeys) storeSealer(ctx context.Context, s scope, r *liveKeyring, sealer *secret.Sealer) error {
	q := dbgen.New(s)
	rows, err := q.Keysets(ctx) // as lockSealer read them
	if err != nil {
		return err
	}
	have, err := r.current.Load().reopenKeys(rows, r.kek)
	if err != nil {
		return err
	}
	keyring, err := rotateMACKeys(ctx, q, have.Keyring, findStage(sealer))
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

func (installationKeys) retireKey(ctx context.Context, q *dbgen.Queries, prefix []byte) error {
	return q.RetireKey(ctx, prefix)
}

type singleTenantKeys struct{ id connectors.TenantID }

func (singleTenantKeys) isSingleTenant() bool { return true }

func (o singleTenantKeys) sqlParam(*keyringSnapshot) any { return o.id }

// loadSealer reads the database: memory may be older than the previous step.
func (o singleTenantKeys) loadSealer(ctx context.Context, s scope, have *keyringSnapshot) (*secret.Sealer, error) {
	wrapped, err := dbgen.New(s).TenantKeys(ctx, o.id)
	if err != nil {
		return nil, rowError(err, "tenant")
	}
	return have.Unwrap(wrapped, tenantKeyAD(o.id.String()))
}

func (o singleTenantKeys) lockSealer(ctx context.Context, s scope, r *liveKeyring) (*secret.Sealer, error) {
	wrapped, err := dbgen.New(s).LockTenantKeys(ctx, o.id)
	if err != nil {
		return nil, rowError(err, "tenant")
	}
	return r.current.Load().Unwrap(wrapped, tenantKeyAD(o.id.String()))
}

func (o singleTenantKeys) storeSealer(ctx context.Context, s scope, r *liveKeyring, sealer *secret.Sealer) error {
	wrapped, err := r.current.Load().Wrap(sealer, tenantKeyAD(o.id.String()))
	if err != nil {
		return err
	}
	q := dbgen.New(s)
	if err := q.ReplaceTenantKeys(ctx, wrapped, sealer.Primary().Prefix(), o.id); err != nil {
		return err
	}
	return q.IncrementKeysetGeneration(ctx)
}

func (o singleTenantKeys) isRetired(ctx context.Context, q *dbgen.Queries, prefix []byte) (bool, error) {
	return q.IsRetiredTenantKey(ctx, o.id, prefix)
}

func (o singleTenantKeys) retireKey(ctx context.Context, q *dbgen.Queries, prefix []byte) error {
	return q.RetireTenantKey(ctx, o.id, prefix)
}
