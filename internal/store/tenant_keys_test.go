package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestTenantKeys_SealFromTheStart(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 3)
	y.wantDivided(t, y.St)
	y.wantAll(t, y.St)
	other := y.open(t)
	y.wantAll(t, other)
	y.wantFlows(t, other)
}

func TestTenantKeys_SurviveInstallationRotation(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 3)
	sleeper := y.open(t)
	before := y.ownKeys(t)
	var resealed int
	err := y.St.RotateSealingKeys(t.Context(), y.alone(t, func(p store.RotationProgress) {
		if p.Step == store.SecretsResealed {
			resealed = p.Done
		}
	}))
	if err != nil || resealed != 3 {
		t.Errorf("%v; %d were sealed anew, want the keys of two tenants, a person's second factor and nothing else", err, resealed)
	}
	y.wantRotated(t)
	if diff := cmp.Diff(before, y.ownKeys(t)); diff != "" {
		t.Error(diff)
	}
	y.wantAll(t, sleeper)
	y.wantFlows(t, sleeper)
}

func TestATenantsRotationLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 250)
	sleeper := y.open(t)
	y.wantAll(t, sleeper) // so that it has the keys in memory
	before := y.ownKeys(t)
	var steps []store.RotationStep
	err := y.St.RotateTenantKeys(t.Context(), y.Tenant, y.alone(t, func(p store.RotationProgress) {
		if p.Step != store.SecretsResealed {
			steps = append(steps, p.Step)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := []store.RotationStep{store.KeyAdded, store.ReadersAwaited, store.KeyPromoted, store.ReadersAwaited, store.OldKeysRetired}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
	y.wantDivided(t, y.open(t))
	after := y.ownKeys(t)
	if after[y.Tenant] == before[y.Tenant] || after[y.Other] != before[y.Other] {
		t.Errorf("keys %v, then %v", before, after)
	}
	if y.open(t).Keyring().Primary() != y.old {
		t.Error("the installation's key was replaced, too")
	}
	y.wantAll(t, sleeper)
	y.wantFlows(t, sleeper)
	// Nothing more is sealed by it; the other tenant's key is unaffected.
	retired := before[y.Tenant].Prefix()
	if err := asSystem(t.Context(), y.Pool, "update credentials set sealed = $1 where tenant_id = $2", []any{retired, y.Tenant}); err == nil {
		t.Error("the tenant's rows take what its retired key sealed")
	}
	if err := asSystem(t.Context(), y.Pool, "update credentials set sealed = $1 where tenant_id = $2", []any{retired, y.Other}); err != nil {
		t.Errorf("another tenant's key of the same id is refused: %v", err)
	}
}

func TestATenantsRotationThatWasCutOffGoesOn(t *testing.T) {
	t.Parallel()
	const moments = 10
	for moment := range moments {
		t.Run(fmt.Sprint(moment), func(t *testing.T) {
			t.Parallel()
			y := dividedTreasury(t, 1)
			cut, kill := context.WithCancel(t.Context())
			defer kill()
			told := 0
			err := y.St.RotateTenantKeys(cut, y.Tenant, y.alone(t, func(store.RotationProgress) {
				if told++; told > moment {
					kill()
				}
			}))
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cut off after %d: %v", told, err)
			}
			y.wantAll(t, y.open(t))
			if err := y.open(t).RotateTenantKeys(t.Context(), y.Tenant, y.alone(t, nil)); err != nil {
				t.Fatal(err)
			}
			y.wantDivided(t, y.open(t))
			y.wantAll(t, y.open(t))
		})
	}
}

func TestTenantKeys_UseDuringRotation(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 1)
	other := y.open(t)
	processes := map[connectors.InstanceID]*store.Store{y.Instance: y.St, fixture.NewInstance(): other}
	working, stop := context.WithCancel(t.Context())
	defer stop()
	var workers sync.WaitGroup
	for i, st := range []*store.Store{y.St, other, other} {
		c := y.Connector(t)
		workers.Go(func() {
			for n := 0; working.Err() == nil; n++ {
				sealAndOpen(t, y, st, c, secret.Text(fmt.Sprint(i, n)))
				y.wantAll(t, st)
			}
		})
	}
	for range 2 {
		if err := y.St.RotateTenantKeys(t.Context(), y.Tenant, y.beating(t, processes, nil)); err != nil {
			t.Fatal(err)
		}
		if err := other.RotateSealingKeys(t.Context(), y.beating(t, processes, nil)); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	workers.Wait()
	y.wantRotated(t)
}

func TestTenantKeys_AddedByRotation(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
	if _, err := y.St.Tenant(y.Tenant).SealingKeys(t.Context()); !fault.Is(err, fault.NotFound) {
		t.Errorf("the tenant's own: %v", err)
	}
	if err := y.St.RotateTenantKeys(t.Context(), y.Tenant, y.alone(t, nil)); !fault.Is(err, fault.Conflict) {
		t.Errorf("a rotation of them: %v", err)
	}
	for tenant, by := range sealers(t, y.Pool)["credentials"] {
		if tenant.key != y.old {
			t.Errorf("%d credentials are sealed by %s: a version before tenants' keys could not open them", by, tenant.key)
		}
	}
	// One of that version is alive: nothing is sealed that it cannot open.
	if err := asSystem(t.Context(), y.Pool, "insert into instances (id, beat_at, keyset_generation) values ($1, now() + interval '1 hour', 1000)", []any{fixture.NewInstance()}); err != nil {
		t.Fatal(err)
	}
	impatient, giveUp := context.WithCancel(t.Context())
	err := y.St.RotateSealingKeys(impatient, y.alone(t, func(p store.RotationProgress) {
		if p.Step == store.ReadersAwaited {
			giveUp()
		}
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it does not wait: %v", err)
	}
	if n := len(sealers(t, y.Pool)["tenant_keys"]); n != 0 {
		t.Errorf("%d tenants have keys", n)
	}
}

func TestTenantKeys_DeletedWithTenant(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 1)
	c := y.their
	vault := y.St.Vault(y.Other)
	if got, err := second(vault.Secret(t.Context(), c.ID, nil)); err != nil || got != "theirs" {
		t.Fatalf("before: %v", err)
	}
	kept := y.setAside(t, y.Other)
	if err := y.St.System().DeleteTenant(t.Context(), y.Other); err != nil {
		t.Fatal(err)
	}
	if err := y.St.System().Syncs().Heartbeat(t.Context(), y.Instance); err != nil {
		t.Fatal(err)
	}
	y.putBack(t, kept) // without the key, as after restoring some tables of a backup
	for name, st := range map[string]*store.Store{"the process that had the key": y.St, "a fresh one": y.open(t)} {
		if got, err := second(st.Vault(y.Other).Secret(t.Context(), c.ID, nil)); err == nil || got == "theirs" {
			t.Errorf("%s opens %q", name, got.Reveal())
		}
	}
	y.wantOwn(t)
}

func TestTenantKeys_RestoredKeyOpens(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 1)
	c := y.their
	kept := append(y.setAside(t, y.Other), y.rows(t, "tenant_keys", "tenant_id", y.Other)...)
	if err := y.St.System().DeleteTenant(t.Context(), y.Other); err != nil {
		t.Fatal(err)
	}
	y.putBack(t, kept)
	if got, err := second(y.open(t).Vault(y.Other).Secret(t.Context(), c.ID, nil)); err != nil || got != "theirs" {
		t.Errorf("a backup with the key does not open: %q, %v", got.Reveal(), err)
	}
	if err := y.St.System().DeleteTenant(t.Context(), y.Other); err != nil {
		t.Fatal(err)
	}
	y.rotate(t)
	if err := y.tryBack(t, kept); err == nil || !strings.Contains(err.Error(), "sealed by a retired key") {
		t.Errorf("after the rotation of the installation's key: %v", err)
	}
}

func TestNobodyRetiresAKeyThatWrapsTenantsKeys(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 1)
	err := asSystem(t.Context(), y.Pool, "insert into retired_keys (prefix) values ($1)", []any{y.old.Prefix()})
	if err == nil || !strings.Contains(err.Error(), "tenants' keys are sealed by this key") {
		t.Errorf("error = %v", err)
	}
}

// A tenant's first secret makes its key in the same transaction, which tells the audit log of the secret, too.
func TestTenantKeys_UsedInSameTransaction(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.AsOwner(t, "delete from tenant_keys")
	err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		credential := store.NewCredential{ConnectorID: c.ID, Type: connectors.AuthBearer, Origin: connectors.Origin(c.URL), Secret: "kept"}
		if err := tx.Connectors().SetCredential(t.Context(), credential); err != nil {
			return err
		}
		state, err := tx.State(t.Context(), store.OfCredential(c.ID, nil))
		if mark, _ := state["secret"].(string); !strings.HasPrefix(mark, "hmac:") {
			t.Errorf("the secret is told as %q", mark)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTenantKeys_RollBackWithTransaction(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	owner, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(t.Context()) }()
	if _, err := owner.Exec(t.Context(), "delete from tenant_keys"); err != nil {
		t.Fatal(err)
	}
	credential := store.NewCredential{ConnectorID: c.ID, Type: connectors.AuthBearer, Origin: connectors.Origin(c.URL), Secret: "kept"}
	undone := errors.New("undone")
	err = w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		for range 2 {
			if err := tx.Connectors().SetCredential(t.Context(), credential); err != nil {
				return err
			}
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	if err := w.Door().Connectors().SetCredential(t.Context(), credential); err != nil {
		t.Fatal(err)
	}
	other, err := store.Open(t.Context(), w.Pool, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if got, err := second(other.Vault(w.Tenant).Secret(t.Context(), c.ID, nil)); err != nil || got != "kept" {
		t.Errorf("sealed by a key that nobody has: %v", err)
	}
}

// ownKeys are the tenants' sealing keys, as a fresh process reads them.
func (y treasury) ownKeys(t *testing.T) map[connectors.TenantID]secret.KeyID {
	t.Helper()
	keys := map[connectors.TenantID]secret.KeyID{}
	st := y.open(t)
	for _, id := range []connectors.TenantID{y.Tenant, y.Other} {
		own, err := st.Tenant(id).SealingKeys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		keys[id] = own.Primary
	}
	return keys
}

// keptRow is a row that was set aside.
type keptRow struct{ table, row string }

func (y treasury) rows(t *testing.T, table, key string, tenant connectors.TenantID) (kept []keptRow) {
	t.Helper()
	var all []string
	if err := asSystem(t.Context(), y.Pool, fmt.Sprintf("select coalesce(array_agg(to_jsonb(r)::text), '{}') from %s r where %s = $1", table, key), []any{tenant}, &all); err != nil {
		t.Fatal(err)
	}
	for _, row := range all {
		kept = append(kept, keptRow{table, row})
	}
	return kept
}

// setAside keeps a tenant, its connectors and its credentials, as a backup of those tables has them.
func (y treasury) setAside(t *testing.T, tenant connectors.TenantID) []keptRow {
	t.Helper()
	return slices.Concat(y.rows(t, "tenants", "id", tenant), y.rows(t, "connectors", "tenant_id", tenant), y.rows(t, "credentials", "tenant_id", tenant))
}

func (y treasury) tryBack(t *testing.T, kept []keptRow) error {
	owner, err := pgx.Connect(t.Context(), y.URL)
	if err != nil {
		return err
	}
	defer func() { _ = owner.Close(t.Context()) }()
	return pgx.BeginFunc(t.Context(), owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		for _, k := range kept {
			var columns string // but those that the database computes
			if err := tx.QueryRow(t.Context(), `select string_agg(quote_ident(column_name), ', ') from information_schema.columns
				where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`, k.table).Scan(&columns); err != nil {
				return err
			}
			if _, err := tx.Exec(t.Context(), fmt.Sprintf("insert into %s (%s) select %s from jsonb_populate_record(null::%s, $1::jsonb)", k.table, columns, columns, k.table), k.row); err != nil {
				return fmt.Errorf("%s: %w", k.table, err)
			}
		}
		return nil
	})
}

func (y treasury) putBack(t *testing.T, kept []keptRow) {
	t.Helper()
	if err := y.tryBack(t, kept); err != nil {
		t.Fatal(err)
	}
}

// wantOwn opens a secret of the tenant that stays.
func (y treasury) wantOwn(t *testing.T) {
	t.Helper()
	if got, err := second(y.St.Vault(y.Tenant).Secret(t.Context(), y.plain.ID, nil)); err != nil || got != "shared" {
		t.Errorf("the other tenant's: %q, %v", got.Reveal(), err)
	}
}
