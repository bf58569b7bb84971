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

// maxTenantKeys bounds the cached keysets: a few KiB each.
const maxTenantKeys = 4096

// tenantKeyset holds the keys of one tenant as stored at one time.
type tenantKeyset struct {
	*secret.Sealer
	wrapped  []byte
	previous *secret.Sealer // this process's keys before the last change; nil: none
}

// tenantKeyCache caches the opened keysets of one generation. Keysets read for an earlier generation are never
// added.
type tenantKeyCache struct {
	mu      sync.RWMutex
	keysets map[string]*tenantKeyset // by tenant id
}

func newTenantKeys() *tenantKeyCache { return &tenantKeyCache{keysets: map[string]*tenantKeyset{}} }

func (k *tenantKeyCache) get(tenant string) *tenantKeyset {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keysets[tenant]
}

// add evicts an arbitrary keyset at the bound.
func (k *tenantKeyCache) add(tenant string, s *tenantKeyset) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.keysets[tenant]; !known && len(k.keysets) >= maxTenantKeys {
		for other := range k.keysets {
			delete(k.keysets, other)
			break
		}
	}
	k.keysets[tenant] = s
}

// openSecret fails with ErrUnknownKey if the tenant's keyset is not cached or has other keys.
func (k *tenantKeyCache) openSecret(sealed []byte, ad secret.AD) (secret.Text, error) {
	s := k.get(ad.Tenant)
	if s == nil {
		return "", fmt.Errorf("open a secret of %s: %w", ad.Table, secret.ErrUnknownKey)
	}
	plain, err := s.Open(sealed, ad)
	if err != nil && s.previous != nil {
		if plain, err := s.previous.Open(sealed, ad); err == nil {
			return plain, nil
		}
	}
	return plain, err
}

// reloadAll reads the same tenants' keysets as stored now, without deleted ones.
func (k *tenantKeyCache) reloadAll(ctx context.Context, s scope, wrapper *secret.Sealer) (*tenantKeyCache, error) {
	fresh, ids := newTenantKeys(), k.tenantIDs()
	if len(ids) == 0 {
		return fresh, nil
	}
	rows, err := dbgen.New(s).KeysOfTenants(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		now, err := k.get(row.TenantID.String()).reopenKeyset(row.Sealed, wrapper, row.TenantID.String())
		if err != nil {
			continue // the next use retries and reports the error
		}
		fresh.keysets[row.TenantID.String()] = now
	}
	return fresh, nil
}

func (k *tenantKeyCache) tenantIDs() []uuid.UUID {
	k.mu.RLock()
	defer k.mu.RUnlock()
	ids := make([]uuid.UUID, 0, len(k.keysets))
	for tenant := range k.keysets {
		ids = append(ids, uuid.MustParse(tenant))
	}
	return ids
}

// reopenKeyset opens the keyset as stored. A rotation of only the installation's key leaves it unchanged.
func (t *tenantKeyset) reopenKeyset(wrapped []byte, wrapper *secret.Sealer, tenant string) (*tenantKeyset, error) {
	if t != nil && bytes.Equal(t.wrapped, wrapped) {
		return t, nil
	}
	sealer, err := wrapper.Unwrap(wrapped, tenantKeyAD(tenant))
	if err != nil {
		return nil, err
	}
	now := &tenantKeyset{Sealer: sealer, wrapped: wrapped}
	switch {
	case t == nil:
	case t.Primary() == sealer.Primary() && slices.Equal(t.Keys(), sealer.Keys()):
		now.previous = t.previous
	default:
		now.previous = t.Sealer
	}
	return now, nil
}

func tenantKeyAD(tenant string) secret.AD {
	return secret.AD{Tenant: tenant, Table: "tenant_keys", Column: "sealed"}
}

// tenantSealer returns a tenant's sealer from the cache or the database; nil: it has none, or tenant is empty.
func (k *liveKeyring) tenantSealer(ctx context.Context, s scope, have *keyringSnapshot, tenant string) (*secret.Sealer, error) {
	if known := have.tenants.get(tenant); known != nil {
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
	loaded, err := k.unwrapKeyset(ctx, have, wrapped, tenant)
	if err != nil {
		return nil, err
	}
	if s.tx == nil { // the transaction may roll back
		have.tenants.add(tenant, loaded)
	}
	return loaded.Sealer, nil
}

// unwrapKeyset opens a tenant's keyset, which a newer installation key may have wrapped just now.
func (k *liveKeyring) unwrapKeyset(ctx context.Context, have *keyringSnapshot, wrapped []byte, tenant string) (*tenantKeyset, error) {
	var none *tenantKeyset
	loaded, err := none.reopenKeyset(wrapped, have.Sealer, tenant)
	if !errors.Is(err, secret.ErrUnknownKey) {
		return loaded, err
	}
	if have.previous != nil {
		if loaded, err := none.reopenKeyset(wrapped, have.previous.Sealer, tenant); err == nil {
			return loaded, nil
		}
	}
	if err := k.reloadKeys(ctx, have); err != nil {
		return nil, err
	}
	return none.reopenKeyset(wrapped, k.current.Load().Sealer, tenant)
}

// tenantSealerOrNew also makes the keyset of a tenant older than tenants' keys.
func (k *liveKeyring) tenantSealerOrNew(ctx context.Context, s scope, have *keyringSnapshot, tenant string) (*secret.Sealer, error) {
	sealer, err := k.tenantSealer(ctx, s, have, tenant)
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
	sealer, err = k.tenantSealer(ctx, s, have, tenant) // ours, or those of a faster process
	if err == nil && sealer == nil {
		return nil, fault.Errorf(fault.NotFound, "No such organisation.")
	}
	return sealer, err
}

func addTenantKeys(ctx context.Context, q *dbgen.Queries, wrapper *secret.Sealer, id connectors.TenantID) error {
	sealer, err := newTenantSealer(ctx, q, wrapper, id)
	if err != nil {
		return err
	}
	wrapped, err := wrapper.Wrap(sealer, tenantKeyAD(id.String()))
	if err != nil {
		return err
	}
	_, err = q.AddTenantKeys(ctx, id, wrapped, sealer.Primary().Prefix())
	return err
}

// newTenantSealer makes a key with an id, 32 random bits, that differs from all current and retired keys of the
// tenant.
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
