package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// mostTenantKeys bounds how many tenants' keys a process keeps in memory: a few KiB each.
const mostTenantKeys = 4096

// tenantSealers are the keys of one tenant, as they were stored at one time.
type tenantSealers struct {
	*secret.Sealer
	wrapped []byte
	before  *secret.Sealer // what this process had until they changed; nil: nothing
}

// tenantKeys are the tenants' keys that a process has opened. They belong to one generation: what is read for an earlier one is never
// put among those of a later one.
type tenantKeys struct {
	mu  sync.RWMutex
	all map[string]*tenantSealers // by the tenant's id
}

func newTenantKeys() *tenantKeys { return &tenantKeys{all: map[string]*tenantSealers{}} }

func (k *tenantKeys) of(tenant string) *tenantSealers {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.all[tenant]
}

// keep makes room by forgetting any other.
func (k *tenantKeys) keep(tenant string, s *tenantSealers) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.all[tenant]; !known && len(k.all) >= mostTenantKeys {
		for other := range k.all {
			delete(k.all, other)
			break
		}
	}
	k.all[tenant] = s
}

// open is ErrUnknownKey where the tenant's keys are not in memory, or are others.
func (k *tenantKeys) open(sealed []byte, ad secret.AD) (secret.Text, error) {
	s := k.of(ad.Tenant)
	if s == nil {
		return "", fmt.Errorf("open a secret of %s: %w", ad.Table, secret.ErrUnknownKey)
	}
	plain, err := s.Open(sealed, ad)
	if err != nil && s.before != nil {
		if plain, err := s.before.Open(sealed, ad); err == nil {
			return plain, nil
		}
	}
	return plain, err
}

// reread are the same tenants' keys as they are stored now: of those that are gone, none.
func (k *tenantKeys) reread(ctx context.Context, s scope, wrapper *secret.Sealer) (*tenantKeys, error) {
	k.mu.RLock()
	ids := make([]uuid.UUID, 0, len(k.all))
	for tenant := range k.all {
		ids = append(ids, uuid.MustParse(tenant))
	}
	k.mu.RUnlock()
	fresh := newTenantKeys()
	if len(ids) == 0 {
		return fresh, nil
	}
	rows, err := dbgen.New(s).KeysOfTenants(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		now, err := k.of(row.TenantID.String()).reopened(row.Sealed, wrapper, row.TenantID.String())
		if err != nil {
			continue // it is tried again when it is needed, and said to whom it fails
		}
		fresh.all[row.TenantID.String()] = now
	}
	return fresh, nil
}

// reopened are the tenant's keys as stored. A rotation of the installation's key alone leaves them the same.
func (t *tenantSealers) reopened(wrapped []byte, wrapper *secret.Sealer, tenant string) (*tenantSealers, error) {
	if t != nil && bytes.Equal(t.wrapped, wrapped) {
		return t, nil
	}
	sealer, err := wrapper.Unwrap(wrapped, tenantKeyPlace(tenant))
	if err != nil {
		return nil, err
	}
	now := &tenantSealers{Sealer: sealer, wrapped: wrapped}
	switch {
	case t == nil:
	case t.Primary() == sealer.Primary() && slices.Equal(t.Keys(), sealer.Keys()):
		now.before = t.before
	default:
		now.before = t.Sealer
	}
	return now, nil
}

func tenantKeyPlace(tenant string) secret.AD {
	return secret.AD{Tenant: tenant, Table: "tenant_keys", Column: "sealed"}
}

// tenantSealer is a tenant's keys, out of memory or out of the database; nil: it has none, or what is asked for is no tenant's.
func (r *ring) tenantSealer(ctx context.Context, s scope, have *keys, tenant string) (*secret.Sealer, error) {
	if known := have.tenants.of(tenant); known != nil {
		return known.Sealer, nil
	}
	if tenant == "" {
		return nil, nil
	}
	id, err := uuid.Parse(tenant)
	if err != nil {
		return nil, fmt.Errorf("read the keys of a tenant: %w", err)
	}
	wrapped, err := dbgen.New(s).TenantKeys(ctx, connectors.TenantID{UUID: id})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	loaded, err := r.unwrap(ctx, have, wrapped, tenant)
	if err != nil {
		return nil, err
	}
	if s.tx == nil { // what a transaction sees, it may yet take back
		have.tenants.keep(tenant, loaded)
	}
	return loaded.Sealer, nil
}

// unwrap opens a tenant's keys, which may just have been wrapped by another key of the installation than this process has.
func (r *ring) unwrap(ctx context.Context, have *keys, wrapped []byte, tenant string) (*tenantSealers, error) {
	var none *tenantSealers
	loaded, err := none.reopened(wrapped, have.Sealer, tenant)
	if !errors.Is(err, secret.ErrUnknownKey) {
		return loaded, err
	}
	if have.before != nil {
		if loaded, err := none.reopened(wrapped, have.before.Sealer, tenant); err == nil {
			return loaded, nil
		}
	}
	if err := r.reread(ctx, have); err != nil {
		return nil, err
	}
	return none.reopened(wrapped, r.now.Load().Sealer, tenant)
}

// tenantSealerOrNew makes a tenant's keys where it has none: one that is older than tenants' keys.
func (r *ring) tenantSealerOrNew(ctx context.Context, s scope, have *keys, tenant string) (*secret.Sealer, error) {
	sealer, err := r.tenantSealer(ctx, s, have, tenant)
	if err != nil || sealer != nil {
		return sealer, err
	}
	id, err := uuid.Parse(tenant)
	if err != nil {
		return nil, fmt.Errorf("make the keys of a tenant: %w", err)
	}
	if err := addTenantKeys(ctx, dbgen.New(s), have.Sealer, connectors.TenantID{UUID: id}); err != nil {
		return nil, err
	}
	sealer, err = r.tenantSealer(ctx, s, have, tenant) // ours, or those of who was faster
	if err == nil && sealer == nil {
		return nil, fault.Errorf(fault.NotFound, "There is no such tenant.")
	}
	return sealer, err
}

func addTenantKeys(ctx context.Context, q *dbgen.Queries, wrapper *secret.Sealer, id connectors.TenantID) error {
	sealer, err := newTenantSealer(ctx, q, wrapper, id)
	if err != nil {
		return err
	}
	wrapped, err := wrapper.Wrap(sealer, tenantKeyPlace(id.String()))
	if err != nil {
		return err
	}
	_, err = q.AddTenantKeys(ctx, id, wrapped, sealer.Primary().Prefix())
	return err
}

// newTenantSealer makes a key whose id, 32 random bits, is no other's that a row of the tenant may be sealed by, and was none's that is retired.
func newTenantSealer(ctx context.Context, q *dbgen.Queries, wrapper *secret.Sealer, id connectors.TenantID) (*secret.Sealer, error) {
	for {
		sealer, err := secret.NewSealer()
		if err != nil {
			return nil, err
		}
		taken, err := q.IsRetiredTenantKey(ctx, id, sealer.Primary().Prefix())
		if err != nil || !taken && !wrapper.Holds(sealer.Primary()) {
			return sealer, err
		}
	}
}
