package secret_test

import (
	"bytes"
	"errors"
	"testing"

	"patchbay/internal/secret"
)

func TestARotationLosesNothingOnItsWay(t *testing.T) {
	t.Parallel()
	kek, first := newKEK(t), newKeyring(t)
	old := seal(t, first, "old")
	if by, ok := secret.SealedBy(old); !ok || by != first.Primary() || !bytes.HasPrefix(old, by.Prefix()) {
		t.Errorf("sealed by %s, %v; the key is %s", by, ok, first.Primary())
	}
	mac, err := first.MAC("api key", []byte("data"))
	if err != nil {
		t.Fatal(err)
	}

	added := rewrapped(t, kek, first)(first.WithNewKey())
	if keys := added.Keys(); len(keys) != 2 || keys[0] != first.Primary() || added.Primary() != first.Primary() || added.Newest() != keys[1] {
		t.Fatalf("keys %v, of which %s seals", keys, added.Primary())
	}
	opens(t, first, seal(t, added, "by the old key still"))

	promoted := rewrapped(t, kek, first)(added.Promoted())
	fresh := seal(t, promoted, "new")
	if by, _ := secret.SealedBy(fresh); by != added.Newest() || promoted.Primary() != by || promoted.Newest() != by {
		t.Errorf("sealed by %s, want %s", by, added.Newest())
	}
	opens(t, promoted, old)
	opens(t, added, fresh)
	if _, err := first.Open(fresh, place); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("without the new key: %v", err)
	}

	retired := rewrapped(t, kek, first)(promoted.Retired())
	if keys := retired.Keys(); len(keys) != 1 || keys[0] != promoted.Primary() {
		t.Errorf("keys %v are left", keys)
	}
	opens(t, retired, fresh)
	if _, err := retired.Open(old, place); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("the retired key's: %v", err)
	}
	if err := retired.VerifyMAC("api key", []byte("data"), mac); err != nil {
		t.Errorf("a MAC from before: %v", err)
	}
}

func TestOpen_UnknownKey(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	changed := seal(t, k, "x")
	changed[len(changed)-1]++
	for name, sealed := range map[string][]byte{"changed": changed, "short": {1, 2, 3, 4}, "nothing": nil, "no version": {0, 1, 2, 3, 4, 5}} {
		if _, err := k.Open(sealed, place); !errors.Is(err, secret.ErrAltered) || errors.Is(err, secret.ErrUnknownKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, sealed := range map[string][]byte{"short": {1, 2, 3, 4}, "nothing": nil, "no version": {0, 1, 2, 3, 4, 5}} {
		if id, ok := secret.SealedBy(sealed); ok {
			t.Errorf("%s: sealed by %s", name, id)
		}
	}
}

// rewrapped stores a keyring and reads it again: the order of the keys has to survive that.
func rewrapped(t *testing.T, kek secret.KEK, first *secret.Keyring) func(*secret.Sealer, error) *secret.Keyring {
	return func(sealing *secret.Sealer, err error) *secret.Keyring {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		w, err := first.With(sealing).WrapWith(kek)
		if err != nil {
			t.Fatal(err)
		}
		again, err := secret.Unwrap(kek, w)
		if err != nil {
			t.Fatal(err)
		}
		return again
	}
}

func seal(t *testing.T, k *secret.Keyring, text secret.Text) []byte {
	t.Helper()
	sealed, err := k.Seal(text, place)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func opens(t *testing.T, k *secret.Keyring, sealed []byte) {
	t.Helper()
	if _, err := k.Open(sealed, place); err != nil {
		t.Error(err)
	}
}

func TestUnwrap_RequiresWrapperAndAD(t *testing.T) {
	t.Parallel()
	outer, other := newKeyring(t), newKeyring(t)
	inner, err := secret.NewSealer()
	if err != nil {
		t.Fatal(err)
	}
	if inner, err = inner.WithNewKey(); err != nil {
		t.Fatal(err)
	}
	wrapped, err := outer.Wrap(inner, place)
	if err != nil {
		t.Fatal(err)
	}
	if by, ok := secret.SealedBy(wrapped); !ok || by != outer.Primary() {
		t.Errorf("wrapped by %s, %v; want %s", by, ok, outer.Primary())
	}
	again, err := outer.Unwrap(wrapped, place)
	if err != nil || again.Primary() != inner.Primary() || again.Newest() != inner.Newest() {
		t.Fatalf("unwrapped: %v", err)
	}
	sealed, err := inner.Seal("hunter2", place)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Open(sealed, place); err != nil || got.Reveal() != "hunter2" {
		t.Errorf("opened %q, %v", got.Reveal(), err)
	}
	if _, err := outer.Open(sealed, place); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("the wrapper opens what the inner keys sealed: %v", err)
	}
	if _, err := other.Unwrap(wrapped, place); !errors.Is(err, secret.ErrUnknownKey) {
		t.Errorf("by another wrapper: %v", err)
	}
	elsewhere := place
	elsewhere.Tenant = "u"
	if _, err := outer.Unwrap(wrapped, elsewhere); err == nil {
		t.Error("they open for another tenant")
	}
	// What rewraps need not know that they are keys.
	plain, err := outer.Open(wrapped, place)
	if err != nil {
		t.Fatal(err)
	}
	rewrapped, err := other.Seal(plain, place)
	if err != nil {
		t.Fatal(err)
	}
	if again, err = other.Unwrap(rewrapped, place); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Open(sealed, place); err != nil {
		t.Error(err)
	}
}
