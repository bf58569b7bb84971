package secret_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/secret"
)

// FuzzKEK: a keyset is 32 bytes however their base64 is written, comes back as it was, and is told by no sentence and no verb.
func FuzzKEK(f *testing.F) {
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i * 9)
	}
	for _, text := range []string{
		base64.StdEncoding.EncodeToString(key), base64.RawURLEncoding.EncodeToString(key), " " + base64.URLEncoding.EncodeToString(key) + "\n", base64.StdEncoding.EncodeToString(key[1:]),
		base64.StdEncoding.EncodeToString(make([]byte, 33)), base64.StdEncoding.EncodeToString(key) + "====", strings.Repeat("A\n", 43), strings.Repeat("=", 43), "file:nowhere", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := secret.DecodeKEK(secret.Text(text))
		if err != nil {
			if plain := strings.TrimSpace(text); len(plain) > 12 && strings.Contains(err.Error(), plain) {
				t.Errorf("the sentence repeats %q: %v", text, err)
			}
			if !k.IsZero() {
				t.Errorf("%q is refused, and a key", text)
			}
			return
		}
		raw, err := base64.StdEncoding.DecodeString(k.Encode())
		if err != nil || len(raw) != 32 {
			t.Fatalf("%q is the key %q: %v", text, k.Encode(), err)
		}
		again, err := secret.DecodeKEK(secret.Text(k.Encode()))
		if err != nil || string(again.ID()) != string(k.ID()) {
			t.Errorf("%q comes back as another key: %v", text, err)
		}
		if written := strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(strings.TrimRight(strings.TrimSpace(text), "=")); written[:42] != k.Encode()[:42] {
			t.Errorf("%q is read as %q", text, k.Encode())
		}
		if shown := fmt.Sprintf("%v %+v %#v %s %x %q", k, k, k, k, k, k); strings.Contains(shown, k.Encode()[:8]) {
			t.Errorf("the key is shown as %s", shown)
		}
	})
}
