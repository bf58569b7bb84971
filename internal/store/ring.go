package store

import (
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
	generation int             // grows with each change of the sealing keys
	before     *secret.Keyring // what this process had until then; nil: nothing
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
	r := &ring{scope: s, kek: kek}
	r.now.Store(&loaded)
	return r, nil
}

// Open decrypts what was sealed for the same place, by whichever process.
func (r *ring) Open(sealed []byte, ad secret.AD) (secret.Text, error) {
	have := r.now.Load()
	plain, err := have.Open(sealed, ad)
	if !errors.Is(err, secret.ErrUnknownKey) {
		return plain, err
	}
	// A row may have been read just before it was sealed anew and its key retired.
	if have.before != nil {
		if plain, err := have.before.Open(sealed, ad); err == nil {
			return plain, nil
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), rereadTime)
	defer cancel()
	if err := r.reread(ctx, have); err != nil {
		return "", err
	}
	return r.now.Load().Open(sealed, ad)
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
	stored, err := openKeyring(rows, r.kek)
	if err != nil {
		return err
	}
	if stored.generation == have.generation {
		return nil
	}
	stored.before = have.Keyring
	r.now.Store(&stored)
	return nil
}

// storing seals plain for its place and has it written. Where the key is retired between the two, the database refuses it, and
// this is done once more by the newest key.
func (r *ring) storing(ctx context.Context, plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	have := r.now.Load()
	err := have.storing(plain, ad, write)
	if !errors.Is(err, errRetiredKey) {
		return err
	}
	if err := r.reread(ctx, have); err != nil {
		return err
	}
	return r.now.Load().storing(plain, ad, write)
}

func (k *keys) storing(plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	sealed, err := k.Seal(plain, ad)
	if err != nil {
		return err
	}
	return write(sealed)
}

// storing is the ring's; a transaction that is open survives the refusal.
func (t *Tenant) storing(ctx context.Context, plain secret.Text, ad secret.AD, write func(sealed []byte) error) error {
	if t.scope.tx == nil {
		return t.store.keyring.storing(ctx, plain, ad, write)
	}
	return t.store.keyring.storing(ctx, plain, ad, func(sealed []byte) error {
		return t.scope.apart(ctx, func() error { return write(sealed) })
	})
}
