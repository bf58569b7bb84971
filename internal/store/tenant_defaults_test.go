package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestTenantDefaults_InitialAndChanged(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	self, err := w.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(connectors.ContractDefaults(), self.Defaults); diff != "" {
		t.Error(diff)
	}
	own := connectors.Defaults{
		Approval: connectors.ApprovalTrustedOnly, SyncInterval: time.Hour, DefinitionAge: 0, ToolChanges: connectors.ToolChangesHoldAll, Listen: connectors.ListenOff,
	}
	if err := w.Door().SetDefaults(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	if self, err = w.Door().Self(t.Context()); err != nil || self.Defaults != own {
		t.Errorf("%+v, %v", self.Defaults, err)
	}
	other, err := w.St.Tenant(w.Other).Self(t.Context())
	if err != nil || other.Defaults != connectors.ContractDefaults() {
		t.Errorf("another tenant's defaults: %+v, %v", other.Defaults, err)
	}
}

func TestTenantDefaults_AreBounded(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for name, wrong := range map[string]func(*connectors.Defaults){
		"approval":       func(d *connectors.Defaults) { d.Approval = "sometimes" },
		"interval":       func(d *connectors.Defaults) { d.SyncInterval = time.Second },
		"definition age": func(d *connectors.Defaults) { d.DefinitionAge = 25 * time.Hour },
		"tool changes":   func(d *connectors.Defaults) { d.ToolChanges = "" },
		"listen":         func(d *connectors.Defaults) { d.Listen = "always" },
	} {
		d := connectors.ContractDefaults()
		wrong(&d)
		if err := w.Door().SetDefaults(t.Context(), d); err == nil {
			t.Errorf("%s is stored", name)
		}
		if len(d.Validate()) != 1 || !strings.HasPrefix(d.Validate()[0].Location, "defaults.") {
			t.Errorf("%s: %v", name, d.Validate())
		}
	}
}

func TestSealedBy_CountsByKey(t *testing.T) {
	t.Parallel()
	y := dividedTreasury(t, 3)
	state := func() (map[secret.KeyID]int, store.SealingKeys) {
		t.Helper()
		door := y.open(t).Tenant(y.Tenant)
		sealed, err := door.SealedBy(t.Context())
		own, keysErr := door.SealingKeys(t.Context())
		if err != nil || keysErr != nil {
			t.Fatal(err, keysErr)
		}
		return sealed, own
	}
	before, first := state()
	if len(before) != 1 || before[first.Primary] < 3 || !first.ChangedAt.Equal(first.MadeAt) {
		t.Errorf("%v, %+v", before, first)
	}
	if err := y.St.RotateTenantKeys(t.Context(), y.Tenant, y.alone(t, nil)); err != nil {
		t.Fatal(err)
	}
	after, second := state()
	if len(after) != 1 || after[second.Primary] != before[first.Primary] {
		t.Errorf("%v after %v", after, before)
	}
	if second.Primary == first.Primary || len(second.Keys) != 1 || second.Unfinished || !second.ChangedAt.After(second.MadeAt) {
		t.Errorf("%+v", second)
	}
}

// A rotation that ends between two statements retires a key that the first of them counted.
func TestKeyUse_KeysReplacedBetweenStatements(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Credential(t, w.Connector(t).ID, nil, "token")
	use := func() (store.KeyUse, error) {
		return w.St.System().KeyUse(context.WithoutCancel(t.Context()), w.Tenant)
	}
	if before, err := use(); err != nil || before.Own == nil || len(before.Sealed) == 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	owner, err := pgx.Connect(t.Context(), w.URL) // the program may not delete a tenant's key
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(context.WithoutCancel(t.Context())) }()
	run := func(sql string, args ...any) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("select set_config('app.system', 'on', false)")
	run("begin")
	run("lock table tenant_keys in access exclusive mode")
	type result struct {
		use store.KeyUse
		err error
	}
	done := make(chan result, 1)
	go func() {
		now, err := use()
		done <- result{now, err}
	}()
	blocked(t, w)
	run("delete from tenant_keys where tenant_id = $1", w.Tenant)
	run("commit")
	if r := <-done; r.err != nil || r.use.Own == nil {
		t.Errorf("values of %d keys, and no key: %v", len(r.use.Sealed), r.err)
	}
}
