package secret_test

import (
	"slices"
	"strings"
	"testing"

	"patchbay/internal/secret"
)

func whole(t *testing.T) func(*secret.Keyring, error) *secret.Keyring {
	return func(k *secret.Keyring, err error) *secret.Keyring {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
}

func TestEachVersionRecognisesWhatItHasMade(t *testing.T) {
	t.Parallel()
	first := whole(t)(secret.NewKeyring())
	made := func(k *secret.Keyring) []byte {
		t.Helper()
		mac, err := k.MAC("purpose", []byte("data"))
		if err != nil {
			t.Fatal(err)
		}
		return mac
	}
	added := whole(t)(first.WithNewMAC())
	promoted := whole(t)(added.WithMACPromoted())
	alone := whole(t)(promoted.WithoutMACs([]secret.KeyID{first.MACPrimary()}))
	for name, c := range map[string]struct {
		by   *secret.Keyring
		mac  []byte
		want bool
	}{
		"the old one's, once there is a new one":          {added, made(first), true},
		"what is made before the new one is used":         {first, made(added), true},
		"the old one's, once the new one is used":         {promoted, made(first), true},
		"the new one's, by whoever has read it":           {added, made(promoted), true},
		"the new one's, by whoever has not":               {first, made(promoted), false},
		"the old one's, once it is dropped":               {alone, made(first), false},
		"the new one's, once it is alone":                 {alone, made(promoted), true},
		"the new one's after keyrings were wrapped again": {again(t, promoted), made(alone), true},
	} {
		if got := c.by.VerifyMAC("purpose", []byte("data"), c.mac) == nil; got != c.want {
			t.Errorf("%s: recognised: %t", name, got)
		}
	}
	if first.Version() != 1 || added.Version() != 1 || promoted.Version() != 2 || alone.Version() != 2 || !slices.Equal(alone.MACKeys(), []secret.KeyID{promoted.MACPrimary()}) {
		t.Errorf("versions %d %d %d %d", first.Version(), added.Version(), promoted.Version(), alone.Version())
	}
	mark, err := promoted.Fingerprint("text", "of")
	if err != nil || !strings.HasPrefix(mark, "hmac-2:") {
		t.Errorf("a fingerprint of the second version is %q (%v)", mark, err)
	}
}

func again(t *testing.T, k *secret.Keyring) *secret.Keyring {
	t.Helper()
	kek, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := k.WrapWith(kek)
	if err != nil {
		t.Fatal(err)
	}
	return whole(t)(secret.Unwrap(kek, wrapped))
}
