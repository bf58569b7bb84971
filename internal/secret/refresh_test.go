package secret_test

import (
	"testing"

	"patchbay/internal/secret"
)

func TestRefreshToken_SurvivesRotation(t *testing.T) {
	t.Parallel()
	ring, err := secret.NewKeyring()
	if err != nil {
		t.Fatal(err)
	}
	line, salt := [16]byte{1}, []byte("salt")
	second, err := ring.RefreshToken(line, 2, salt)
	if err != nil {
		t.Fatal(err)
	}
	next, err := ring.WithNewMAC()
	if err == nil {
		next, err = next.WithMACPromoted()
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]*secret.Keyring{"the same keys": ring, "after a rotation": next} {
		read, ok := secret.ParseBearer(secret.RefreshBearer, second.Text())
		if n, known, err := k.Generation(read, salt); !ok || !known || n != 2 || err != nil {
			t.Errorf("%s: %d, %v, %v", name, n, known, err)
		}
		if again, err := k.RefreshToken(line, 2, salt); err != nil || again.Text() != second.Text() {
			t.Errorf("%s: the same request has another answer, %v", name, err)
		}
		if _, known, _ := k.Generation(read, []byte("another")); known {
			t.Errorf("%s: it is known with another salt", name)
		}
	}
	other, err := secret.NewKeyring()
	if err != nil {
		t.Fatal(err)
	}
	if _, known, _ := other.Generation(second, salt); known {
		t.Error("another installation knows it")
	}
}
