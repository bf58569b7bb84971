package secret_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

var place = secret.AD{Tenant: "t", Table: "credentials", Column: "sealed", Row: "r"}

func TestASealedSecretOpensInItsPlaceOnly(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	sealed, err := k.Seal("hunter2", place)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(sealed), "hunter2") {
		t.Error("sealed, and readable")
	}
	if got, err := k.Open(sealed, place); err != nil || got.Reveal() != "hunter2" {
		t.Errorf("opened %q, %v", got.Reveal(), err)
	}
	for name, elsewhere := range map[string]secret.AD{
		"tenant":  {Tenant: "u", Table: "credentials", Column: "sealed", Row: "r"},
		"table":   {Tenant: "t", Table: "tokens", Column: "sealed", Row: "r"},
		"column":  {Tenant: "t", Table: "credentials", Column: "other", Row: "r"},
		"row":     {Tenant: "t", Table: "credentials", Column: "sealed", Row: "s"},
		"shifted": {Tenant: "tc", Table: "redentials", Column: "sealed", Row: "r"},
	} {
		if _, err := k.Open(sealed, elsewhere); err == nil {
			t.Errorf("it opens in another %s", name)
		}
	}
	sealed[len(sealed)-1]++
	if _, err := k.Open(sealed, place); err == nil {
		t.Error("it opens although a byte was changed")
	}
	if _, err := newKeyring(t).Open(sealed, place); err == nil {
		t.Error("another keyring opens it")
	}
}

func TestAMACVerifiesForItsPurposeOnly(t *testing.T) {
	t.Parallel()
	k := newKeyring(t)
	mac, err := k.MAC("api key", []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.VerifyMAC("api key", []byte("data"), mac); err != nil {
		t.Error(err)
	}
	if k.VerifyMAC("session", []byte("data"), mac) == nil || k.VerifyMAC("api key", []byte("date"), mac) == nil || k.VerifyMAC("api keyd", []byte("ata"), mac) == nil {
		t.Error("it verifies for something else")
	}
}

func TestAKeyringUnwrapsWithItsKeyOnly(t *testing.T) {
	t.Parallel()
	k, kek, wrong := newKeyring(t), newKEK(t), newKEK(t)
	wrapped, err := k.WrapWith(kek)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := k.Seal("hunter2", place)
	if err != nil {
		t.Fatal(err)
	}
	again, err := secret.Unwrap(kek, wrapped)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Open(sealed, place); err != nil || got.Reveal() != "hunter2" {
		t.Errorf("opened %q, %v", got.Reveal(), err)
	}
	for name, try := range map[string]func() error{
		"another key": func() error { _, err := secret.Unwrap(wrong, wrapped); return err },
		"no key":      func() error { _, err := secret.Unwrap(secret.KEK{}, wrapped); return err },
		"swapped": func() error {
			_, err := secret.Unwrap(kek, secret.Wrapped{Seal: wrapped.MAC, MAC: wrapped.Seal})
			return err
		},
	} {
		if err := try(); !errors.Is(err, secret.ErrWrongKEK) {
			t.Errorf("%s: %v, want ErrWrongKEK", name, err)
		}
	}
}

func TestAKEKIsReadFromBase64AndFromAFile(t *testing.T) {
	t.Parallel()
	kek := newKEK(t)
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(kek.Encode()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(kek.Encode())
	if err != nil || len(raw) != 32 {
		t.Fatalf("encoded as %d bytes, %v", len(raw), err)
	}
	for _, text := range []string{kek.Encode(), " " + kek.Encode() + "\n", "file:" + path, base64.RawURLEncoding.EncodeToString(raw)} {
		got, err := secret.ParseKEK(text)
		if err != nil || got.Encode() != kek.Encode() {
			t.Errorf("a good key was refused or misread: %v", err)
		}
	}
	short := base64.StdEncoding.EncodeToString(raw[:31])
	for _, text := range []string{"", "not base64!", short, "file:" + path + ".missing", "file:"} {
		_, err := secret.ParseKEK(text)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("error = %v, want Invalid", err)
		}
		if text == short && strings.Contains(err.Error(), short) {
			t.Error("the error repeats the key")
		}
	}
}

func newKeyring(t *testing.T) *secret.Keyring {
	t.Helper()
	k, err := secret.NewKeyring()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newKEK(t *testing.T) secret.KEK {
	t.Helper()
	k, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	return k
}
