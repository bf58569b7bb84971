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

// firstGeneration is that of the keys that the first Open makes.
const firstGeneration = 1

// rereadTime bounds the reading of the stored keys in the middle of something else.
const rereadTime = 5 * time.Second

// keys are the keyring as it was stored at one time.
type keys struct {
	*secret.Keyring
	wrapped    []byte          // the sealing keys, as stored
	wrappedMAC []byte          // those that authenticate, likewise
	generation int             // grows with each change of the sealing keys, and of tenants' keys
	perTenant  bool            // secrets are sealed by their tenant's key
	moving     bool            // to another PATCHBAY_KEYSET, when they were read
	before     *secret.Keyring // what this process had until then; nil: nothing
	tenants    *tenantKeys
}

// ring is the keyring of this process. A rotation in another process changes the stored one; this one reads it again when it
// meets a secret whose key it does not know, and at a heartbeat that finds another generation.
type ring struct {
	scope scope
	kek   secret.KEK
	now   atomic.Pointer[keys]

	mu sync.Mutex // one reads at a time
}

func openRing(ctx context.Context, s scope, kek secret.KEK) (*ring, error) {
	loaded, err := loadKeyring(ctx, s, kek)
	if err != nil {
		return nil, err
	}
	loaded.tenants = newTenantKeys()
	r := &ring{scope: s, kek: kek}
	r.now.Store(&loaded)
	return r, nil
}

// Open decrypts what was sealed for the same place, by whichever process.
func (r *ring) Open(sealed []byte, ad secret.AD) (secret.Text, error) {
	have := r.now.Load()
	plain, err := have.open(sealed, ad)
	if !errors.Is(err, secret.ErrUnknownKey) {
		return plain, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), rereadTime)
	defer cancel()
	if have.tenants.of(ad.Tenant) == nil { // not in memory yet, which is no reason to read the installation's keys again
		if _, err := r.tenantSealer(ctx, r.scope, have, ad.Tenant); err != nil {
			return "", err
		}
		if plain, err = have.open(sealed, ad); !errors.Is(err, secret.ErrUnknownKey) {
			return plain, err
		}
	}
	if err := r.reread(ctx, have); err != nil {
		return "", err
	}
	have = r.now.Load()
	if _, err := r.tenantSealer(ctx, r.scope, have, ad.Tenant); err != nil {
		return "", err
	}
	return have.open(sealed, ad)
}

// openWithin is Open in the middle of a transaction: the tenant's key may be one that it has made itself, and waiting for a second connection
// could wait for others who wait for this one.
func (r *ring) openWithin(ctx context.Context, s scope, sealed []byte, ad secret.AD) (secret.Text, error) {
	have := r.now.Load()
	if plain, err := have.open(sealed, ad); !errors.Is(err, secret.ErrUnknownKey) {
		return plain, err
	}
	sealer, err := r.tenantSealer(ctx, s, have, ad.Tenant)
	if err != nil {
		return "", err
	}
	if sealer != nil {
		if plain, err := sealer.Open(sealed, ad); !errors.Is(err, secret.ErrUnknownKey) {
			return plain, err
		}
	}
	return r.Open(sealed, ad)
}

// open tries the keys that are in memory. A row may have been read just before it was sealed anew and its key retired, so that the keys
// from before count, too.
func (k *keys) open(sealed []byte, ad secret.AD) (secret.Text, error) {
	plain, err := k.tenants.open(sealed, ad)
	if err == nil {
		return plain, nil
	}
	if plain, own := k.Open(sealed, ad); own == nil || !errors.Is(own, secret.ErrUnknownKey) && errors.Is(err, secret.ErrUnknownKey) {
		return plain, own
	}
	if k.before != nil {
		if plain, err := k.before.Open(sealed, ad); err == nil {
			return plain, nil
		}
	}
	return "", err
}

// catchUp reads the stored keys where they have changed, and returns the generation that this process has.
func (r *ring) catchUp(ctx context.Context) (generation int, err error) {
	have := r.now.Load()
	stored, err := dbgen.New(r.scope).KeysetGeneration(ctx)
	if err == nil && int(stored) != have.generation {
		err = r.reread(ctx, have)
	}
	return r.now.Load().generation, err
}

// reread reads the stored keys, unless another has since the caller looked.
func (r *ring) reread(ctx context.Context, seen *keys) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	have := r.now.Load()
	if have != seen {
		return nil
	}
	rows, err := dbgen.New(r.scope).Keysets(ctx)
	if err != nil {
		return err
	}
	stored, err := have.reopened(rows, r.kek)
	if err != nil || stored.generation == have.generation {
		return err
	}
	// After the generation: what is read here is at least as new as it.
	if stored.tenants, err = have.tenants.reread(ctx, r.scope, stored.Sealer); err != nil {
		return err
	}
	r.now.Store(&stored)
	return nil
}

// reopened are the stored keys. Those that are as they were are not unwrapped again: whoever holds the key that wraps them may be away.
func (k *keys) reopened(rows []dbgen.KeysetsRow, kek secret.KEK) (keys, error) {
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
	stored.before = k.Keyring
	return stored, err
}

// storing seals plain for its place and has it written. Where the key is retired between the two, the database refuses it, and
// this is done once more by the newest key. A transaction of s survives the refusal.
func (r *ring) storing(ctx context.Context, s scope, plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	have := r.now.Load()
	err := r.store(ctx, s, have, plain, ad, write)
	if !errors.Is(err, errRetiredKey) {
		return err
	}
	if err := r.reread(ctx, have); err != nil {
		return err
	}
	return r.store(ctx, s, r.now.Load(), plain, ad, write)
}

func (r *ring) store(ctx context.Context, s scope, have *keys, plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	attempt := func() error {
		by := have.Sealer
		if have.perTenant && ad.Tenant != "" { // what is no tenant's the installation's key seals
			var err error
			if by, err = r.tenantSealerOrNew(ctx, s, have, ad.Tenant); err != nil {
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
	return s.apart(ctx, attempt)
}

func (t *Tenant) storing(ctx context.Context, plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	return t.store.keyring.storing(ctx, t.scope, plain, ad, write)
}
