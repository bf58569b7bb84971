package credentials_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"patchbay/internal/credentials"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestExchange_KeysRotate(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	signedBy := func() any {
		_, err := w.sent(t, r)
		must(t, err)
		token, _, err := jwt.NewParser().ParseUnverified(w.requests[len(w.requests)-1].Get("subject_token"), jwt.MapClaims{})
		must(t, err)
		w.expire(t)
		return token.Header["kid"]
	}
	first := signedBy()
	age := func(by string) {
		w.AsSystem(t, "update signing_keys set created_at = created_at - $1::interval", []any{by})
	}
	if age("31 days"); signedBy() != first || w.Count(t, "signing_keys") != 2 {
		t.Error("the next key signs before others could read it")
	}
	age("61 minutes")
	second := signedBy()
	if second == first {
		t.Error("the next key does not sign")
	}
	if age("31 days"); signedBy() != second || w.Count(t, "signing_keys") != 2 {
		t.Error("the first key is still published, or the third signs")
	}
	if strings.Contains(w.RowTexts(t), "PRIVATE KEY") {
		t.Error("a key is stored in the open")
	}
	log, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: "signing_key"})
	must(t, err)
	var entries []string
	for _, e := range log.Items {
		entries = append(entries, e.ActorType+" "+e.Action)
		if e.Action == "signing_key.delete" && e.Target != first {
			t.Errorf("deleted: %s, want %s", e.Target, first)
		}
	}
	if want := []string{"system signing_key.create", "system signing_key.create", "system signing_key.create", "system signing_key.delete"}; !slices.Equal(slices.Sorted(slices.Values(entries)), want) {
		t.Errorf("the audit log has %v", entries)
	}
}

// Replicas that see an old key at the same time make one new key, and keep the one that others know.
func TestEnsureSigningKey_AtTheSameTimeMakesOne(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Exchanging(t)
	for want := 1; want <= 2; want++ {
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if err := credentials.EnsureSigningKey(t.Context(), w.St, w.Tenant, time.Now()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n := w.Count(t, "signing_keys"); n != want {
			t.Errorf("%d keys, want %d", n, want)
		}
		w.AsSystem(t, "update signing_keys set created_at = created_at - interval '31 days'", nil)
	}
}

// Write access to the table publishes no key, and an unreadable row stops nothing.
func TestPublicKeys_AreThoseOfSealedKeys(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r := w.newResolver()
	_, err := w.sent(t, r)
	must(t, err)
	w.AsSystem(t, `insert into signing_keys (tenant_id, id, sealed) select tenant_id, gen_random_uuid(), sealed from signing_keys`, nil)
	if keys, err := credentials.NewPublicKeys(w.St).List(t.Context(), w.Tenant); err != nil || len(keys) != 1 {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	w.expire(t)
	_, err = w.sent(t, r)
	must(t, err)
	w.AsSystem(t, "update signing_keys set tenant_id = $1", []any{w.Other})
	if keys, err := credentials.NewPublicKeys(w.St).List(t.Context(), w.Other); err != nil || len(keys) != 0 {
		t.Errorf("moved to another tenant: %d keys, %v", len(keys), err)
	}
	w.AsSystem(t, "update signing_keys set tenant_id = $1", []any{w.Tenant})
	w.AsSystem(t, "update signing_keys set id = gen_random_uuid()", nil) // as if their sealing key was lost
	w.expire(t)
	if _, err := w.sent(t, r); err != nil || w.Count(t, "signing_keys") != 3 {
		t.Errorf("without a readable key: %v, %d keys", err, w.Count(t, "signing_keys"))
	}
}

// A request that began before the end of token exchange brings no key back.
func TestEnsureSigningKey_NeedsAConnectorThatUsesIt(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Exchanging(t)
	ensure := func(want int) {
		t.Helper()
		must(t, credentials.EnsureSigningKey(t.Context(), w.St, w.Tenant, time.Now()))
		if n := w.Count(t, "signing_keys"); n != want {
			t.Errorf("%d keys, want %d", n, want)
		}
	}
	ensure(1)
	must(t, w.Door().Accounts().SetTokenExchange(t.Context(), false))
	ensure(0)
	must(t, w.Door().Accounts().SetTokenExchange(t.Context(), true))
	ensure(1)
	must(t, w.Door().Connectors().Delete(t.Context(), c.ID))
	w.AsSystem(t, "delete from signing_keys", nil)
	ensure(0)
}

// A failure to read the tenant's own keys says nothing about its signing keys: they stay, and no new one takes their place.
func TestEnsureSigningKey_KeepsKeysThatCannotBeOpenedNow(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Exchanging(t)
	must(t, credentials.EnsureSigningKey(t.Context(), w.St, w.Tenant, time.Now()))
	other, err := store.Open(t.Context(), w.Pool, w.KEK)
	must(t, err)
	defer other.Close()
	w.AsSystem(t, `update tenant_keys set sealed = '\x0001020304'`, nil)
	if err := credentials.EnsureSigningKey(t.Context(), other, w.Tenant, time.Now()); err == nil || w.Count(t, "signing_keys") != 1 {
		t.Errorf("%v; %d keys", err, w.Count(t, "signing_keys"))
	}
	if keys, err := credentials.NewPublicKeys(other).List(t.Context(), w.Tenant); err == nil {
		t.Errorf("%d keys are published", len(keys))
	}
}

// After a leak, an owner turns token exchange off and on: the key is published no longer, and nothing that it signed stays.
func TestSigningKey_OffAndOnReplacesIt(t *testing.T) {
	t.Parallel()
	w := newExchangeWorld(t)
	r, public := w.newResolver(), credentials.NewPublicKeys(w.St)
	_, err := w.sent(t, r)
	must(t, err)
	old, err := public.List(t.Context(), w.Tenant)
	must(t, err)
	must(t, w.Door().Accounts().SetTokenExchange(t.Context(), false))
	if keys, err := public.List(t.Context(), w.Tenant); err != nil || len(keys)+w.Count(t, "credentials") != 0 {
		t.Errorf("off: %d keys, %d accounts, %v", len(keys), w.Count(t, "credentials"), err)
	}
	must(t, w.Door().Accounts().SetTokenExchange(t.Context(), true))
	if got, err := w.sent(t, r); err != nil || len(w.requests) != 2 {
		t.Errorf("on: %q, %v", got, err)
	}
	if now, err := public.List(t.Context(), w.Tenant); err != nil || len(now) != 1 || string(now[0]) == string(old[0]) {
		t.Errorf("%d keys, %v", len(now), err)
	}
}
