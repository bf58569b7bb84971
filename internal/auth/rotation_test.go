package auth_test

import (
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Twice, so that the key of then is neither the newest nor the first: those made between the two are recognised by it alone.
func TestWhatWasMadeBeforeRotationsStillOpens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rotate := func() {
		t.Helper()
		beat := func(p store.RotationProgress) {
			if p.Step == store.ReadersAwaited {
				if err := w.St.System().Syncs().Heartbeat(t.Context(), w.Instance); err != nil {
					t.Error(err)
				}
			}
		}
		if err := w.St.RotateSealingKeys(t.Context(), store.RotationOptions{Notify: beat}); err != nil {
			t.Fatal(err)
		}
	}
	var codes [][]secret.Text
	var people []connectors.UserID
	var keys []secret.Text
	for range 3 {
		m := w.person(t, connectors.RoleOwner)
		b := w.signedIn(t, m.UserID)
		_, key, err := w.auth.IssueKey(t.Context(), b.actor(), auth.KeyRequest{Name: "A", Role: connectors.RoleViewer})
		if err != nil {
			t.Fatal(err)
		}
		_, own := b.enrolled()
		codes, people, keys = append(codes, own), append(people, m.UserID), append(keys, key)
		rotate()
	}
	if n := len(w.St.Keyring().MACKeys()); n < 3 {
		t.Errorf("%d keys recognise all of that", n)
	}
	for i, person := range people {
		if err := w.halfIn(t, person).finish(codes[i][0].Reveal()); err != nil {
			t.Errorf("a recovery code from before %d rotations: %v", 3-i, err)
		}
		if _, err := w.auth.FromBearer(t.Context(), "Bearer "+keys[i].Reveal()); err != nil {
			t.Errorf("an API key from before %d rotations: %v", 3-i, err)
		}
	}
}
