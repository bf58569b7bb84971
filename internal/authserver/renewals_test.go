package authserver_test

import (
	"net/http"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

func TestAProgramRenewsItsTokensSoOftenAMinute(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	for kind, given := range map[string]reply{"an agent": w.signedIn(client), "a member": w.acting(client, connectors.ScopeAdmin)} {
		for range 30 {
			if given = w.refresh(client, given.text("refresh_token")); given.Status != http.StatusOK {
				t.Fatalf("%s: %+v", kind, given)
			}
		}
		last := given.text("refresh_token")
		given = w.refresh(client, last)
		if given.Status != http.StatusTooManyRequests || given.text("error") != "temporarily_unavailable" || given.Header.Get("Retry-After") == "" {
			t.Fatalf("%s: %+v", kind, given)
		}
		w.later(3 * time.Second) // there is room for one more every two
		if given = w.refresh(client, last); given.Status != http.StatusOK {
			t.Errorf("%s, later: %+v", kind, given)
		}
	}
}

// Guessing with a client's id does not block the client.
func TestGuessesTakeNothingOfAProgramsRenewals(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	whole := w.signedIn(client).text("refresh_token")
	id, ok := secret.ParseBearer(secret.RefreshBearer, secret.Text(whole))
	if !ok {
		t.Fatal(whole)
	}
	guess := secret.NewBearer(secret.RefreshBearer, id.ID).Text().Reveal()
	for range 40 {
		if r := w.refresh(client, guess); r.Status != http.StatusBadRequest {
			t.Fatalf("%+v", r)
		}
	}
	if r := w.refresh(client, whole); r.Status != http.StatusOK {
		t.Errorf("%+v", r)
	}
}
