package store_test

import (
	"testing"

	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestAHandleOpensForItsOwnerInEveryProcess(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	other, err := store.Open(t.Context(), w.Pool, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	handle, err := w.St.SealHandle("session", "agent", []byte("2025-11-25"))
	if err != nil {
		t.Fatal(err)
	}
	changed := []byte(handle)
	changed[len(changed)/2] ^= 1 // of two letters that are neighbours, or a sign that is none
	for _, c := range []struct {
		purpose, owner, handle string
		opens                  bool
	}{
		{"session", "agent", handle, true},
		{"session", "another agent", handle, false},
		{"task", "agent", handle, false},
		{"session", "agent", string(changed), false},
		{"session", "agent", "", false},
		{"session", "agent", "%", false},
	} {
		plain, err := other.OpenHandle(c.purpose, c.owner, c.handle)
		if (err == nil) != c.opens || c.opens && string(plain) != "2025-11-25" {
			t.Errorf("%+v: %q, %v", c, plain, err)
		}
	}
}
