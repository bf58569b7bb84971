package store

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// firstGeneration is the generation of the keys that the first Open makes.
const firstGeneration = 1

// reloadTimeout bounds reading the stored keys during another operation.
const reloadTimeout = 5 * time.Second

// keyringSnapshot is the keyring as stored at one time.
type keyringSnapshot struct {
	*secret.Keyring
	wrapped    []byte          // sealing keys, as stored
	wrappedMAC []byte          // MAC keys, as stored
	generation int             // increases with each change of the sealing keys and of tenants' keys
	perTenant  bool            // the tenant's key seals secrets
	moving     bool            // to another PATCHBAY_KEYSET, when read
	previous   *secret.Keyring // this process's keys before the last change; nil: none
	tenants    *tenantKeyCache
}

// liveKeyring is the keyring of this process. It reloads the stored keys when a secret's key is unknown, and at
// a heartbeat that finds another generation.
type liveKeyring struct {
	scope   scope
	kek     secret.KEK
	current atomic.Pointer[keyringSnapshot]

	mu sync.Mutex // serializes reloads
}

func openRing(ctx context.Context, s scope, kek secret.KEK) (*liveKeyring, error) {
	loaded, err := loadKeyring(ctx, s, kek)
	if err != nil {
		return nil, err
	}
	loaded.tenants = newTenantKeys()
	r := &liveKeyring{scope: s, kek: kek}
	r.current.Store(&loaded)
	return r, nil
}

// Open decrypts a value that any process sealed with the same additional data.
func (k *liveKeyring) Open(sealed []byte, ad secret.AD) (secret.Text, error) {
	have := k.current.Load()
	plain, err := have.openSecret(sealed, ad)
	if !errors.Is(err, secret.ErrUnknownKey) {
		return plain, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), reloadTimeout)
	defer cancel()
	if have.tenants.get(ad.Tenant) == nil { // not cached yet, which is no reason to reload the installation's keys
		if _, err := k.tenantSealer(ctx, k.scope, have, ad.Tenant); err != nil {
			return "", err
		}
		if plain, err = have.openSecret(sealed, ad); !errors.Is(err, secret.ErrUnknownKey) {
			return plain, err
		}
	}
	if err := k.reloadKeys(ctx, have); err != nil {
		return "", err
	}
	have = k.current.Load()
	if _, err := k.tenantSealer(ctx, k.scope, have, ad.Tenant); err != nil {
		return "", err
	}
	return have.openSecret(sealed, ad)
}

// openWithin is Open inside a transaction: the transaction may have made the tenant's key, and waiting for a
// second connection could deadlock the pool.
func (k *liveKeyring) openWithin(ctx context.Context, s scope, sealed []byte, ad secret.AD) (secret.Text, error) {
	have := k.current.Load()
	if plain, err := have.openSecret(sealed, ad); !errors.Is(err, secret.ErrUnknownKey) {
		return plain, err
	}
	sealer, err := k.tenantSealer(ctx, s, have, ad.Tenant)
	if err != nil {
		return "", err
	}
	if sealer != nil {
		if plain, err := sealer.Open(sealed, ad); !errors.Is(err, secret.ErrUnknownKey) {
			return plain, err
		}
	}
	return k.Open(sealed, ad)
}

// openSecret tries the keys in memory. The previous keys count too: a row may have been read just before it was
// resealed and its key retired.
func (k *keyringSnapshot) openSecret(sealed []byte, ad secret.AD) (secret.Text, error) {
	plain, err := k.tenants.openSecret(sealed, ad)
	if err == nil {
		return plain, nil
	}
	if plain, own := k.Open(sealed, ad); own == nil || !errors.Is(own, secret.ErrUnknownKey) && errors.Is(err, secret.ErrUnknownKey) {
		return plain, own
	}
	if k.previous != nil {
		if plain, err := k.previous.Open(sealed, ad); err == nil {
			return plain, nil
		}
	}
	return "", err
}

// reloadIfChanged reloads the stored keys if they changed, and returns this process's generation.
func (k *liveKeyring) reloadIfChanged(ctx context.Context) (generation int, err error) {
	have := k.current.Load()
	stored, err := dbgen.New(k.scope).KeysetGeneration(ctx)
	if err == nil && int(stored) != have.generation {
		err = k.reloadKeys(ctx, have)
	}
	return k.current.Load().generation, err
}

// reloadKeys reads the stored keys, unless another caller has since seen was read.
func (k *liveKeyring) reloadKeys(ctx context.Context, seen *keyringSnapshot) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	have := k.current.Load()
	if have != seen {
		return nil
	}
	rows, err := dbgen.New(k.scope).Keysets(ctx)
	if err != nil {
		return err
	}
	stored, err := have.reopenKeys(rows, k.kek)
	if err != nil || stored.generation == have.generation {
		return err
	}
	// After the generation: these keys are at least as new.
	if stored.tenants, err = have.tenants.reloadAll(ctx, k.scope, stored.Sealer); err != nil {
		return err
	}
	k.current.Store(&stored)
	return nil
}

// reopenKeys opens the stored keys. Unchanged ones are not unwrapped again: the KMS may be unreachable.
func (k *keyringSnapshot) reopenKeys(rows []dbgen.KeysetsRow, kek secret.KEK) (keyringSnapshot, error) {
	same, as := *k, 0
	for _, row := range rows {
		switch {
		case row.Purpose == purposeSeal && bytes.Equal(row.Wrapped, k.wrapped):
			same.generation, same.perTenant, same.moving = int(row.Generation), row.PerTenant, row.Moving != nil
			as++
		case row.Purpose == purposeMAC && bytes.Equal(row.Wrapped, k.wrappedMAC):
			as++
		}
	}
	if as == len(rows) {
		return same, nil
	}
	stored, err := openKeyring(rows, kek)
	stored.previous = k.Keyring
	return stored, err
}

// sealAndRetry seals plain and calls write. If the key is retired in between, the database refuses the value,
// and it retries once with the newest key. A transaction of s survives the refusal.
func (k *liveKeyring) sealAndRetry(ctx context.Context, s scope, plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	have := k.current.Load()
	err := k.sealAndWrite(ctx, s, have, plain, ad, write)
	if !errors.Is(err, errRetiredKey) {
		return err
	}
	if err := k.reloadKeys(ctx, have); err != nil {
		return err
	}
	return k.sealAndWrite(ctx, s, k.current.Load(), plain, ad, write)
}

func (k *liveKeyring) sealAndWrite(ctx context.Context, s scope, have *keyringSnapshot, plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	attempt := func() error {
		by := have.Sealer
		if have.perTenant && ad.Tenant != "" { // values of no tenant are sealed by the installation's key
			var err error
			if by, err = k.tenantSealerOrNew(ctx, s, have, ad.Tenant); err != nil {
				return err
			}
		}
		sealed, err := by.Seal(plain, ad)
		if err != nil {
			return err
		}
		return write(sealed)
	}
	if s.tx == nil {
		return attempt()
	}
	return s.withSavepoint(ctx, attempt)
}

func (t *tenant) sealAndRetry(ctx context.Context, plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	return t.store.keyring.sealAndRetry(ctx, t.scope, plain, ad, write)
}
