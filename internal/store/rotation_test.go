package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestRotation_ResealsAndRetires(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 3)
	sleeper := y.open(t)
	var steps []store.RotationStep
	err := y.St.RotateSealingKeys(t.Context(), y.alone(t, func(p store.RotationProgress) { steps = append(steps, p.Step) }))
	if err != nil {
		t.Fatal(err)
	}
	want := []store.RotationStep{
		store.KeyAdded, store.ReadersAwaited, store.KeyPromoted, store.ReadersAwaited, store.TenantKeysEnabled, store.ReadersAwaited,
		store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed,
		store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.OldKeysRetired,
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
	y.wantRotated(t)
	y.wantAll(t, y.St)
	y.wantAll(t, sleeper) // which was opened before, and never beat
	y.wantFlows(t, sleeper)
}

func TestOthersSealAndOpenAllTheWhile(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
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
	for range 3 {
		if err := y.St.RotateSealingKeys(t.Context(), y.beating(t, processes, nil)); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	workers.Wait()
	y.wantRotated(t)
}

// sealAndOpen stores a token, within a transaction and without, and reads it again.
func sealAndOpen(t *testing.T, y treasury, st *store.Store, c connectors.Connector, token secret.Text) {
	credential := store.NewCredential{ConnectorID: c.ID, Type: connectors.AuthBearer, Origin: connectors.Origin(c.URL), Secret: token}
	door := st.Tenant(y.Tenant)
	err := door.Tx(t.Context(), func(tx *store.Tenant) error { return tx.Connectors().SetCredential(t.Context(), credential) })
	if err := errors.Join(err, door.Connectors().SetCredential(t.Context(), credential)); err != nil {
		t.Errorf("store: %v", err)
	}
	if _, got, err := st.Vault(y.Tenant).Secret(t.Context(), c.ID, nil); err != nil || got != token {
		t.Errorf("read: %q, want %q (%v)", got.Reveal(), token.Reveal(), err)
	}
}

// The moments are between any two things that a rotation tells: it is cut off right after each, and begun again by another
// process.
func TestARotationThatWasCutOffGoesOn(t *testing.T) {
	t.Parallel()
	const moments = 16 // three batches of flows, and one of each other place
	for moment := range moments {
		t.Run(fmt.Sprint(moment), func(t *testing.T) {
			t.Parallel()
			y := newTreasury(t, 250)
			cut, kill := context.WithCancel(t.Context())
			defer kill()
			told := 0
			err := y.St.RotateSealingKeys(cut, y.alone(t, func(store.RotationProgress) {
				if told++; told > moment {
					kill()
				}
			}))
			last := told == moments && err == nil // after the last there is nothing to cut
			if !last && !errors.Is(err, context.Canceled) {
				t.Fatalf("cut off after %d: %v", told, err)
			}
			y.wantAll(t, y.open(t))
			if last {
				y.wantRotated(t)
				return
			}
			resumed := false
			again := y.alone(t, func(p store.RotationProgress) { resumed = resumed || p.Step == store.RotationResumed })
			if err := y.open(t).RotateSealingKeys(t.Context(), again); err != nil || !resumed {
				t.Fatalf("begun again: %v, resumed: %v", err, resumed)
			}
			y.wantRotated(t)
			y.wantFlows(t, y.open(t))
		})
	}
}

func TestARefreshUnderWayKeepsItsLease(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
	vault := y.St.Vault(y.Tenant)
	g, err := vault.Grant(t.Context(), y.oauth.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	lease, ok, err := vault.LeaseGrant(t.Context(), g, time.Minute)
	wantTrue(t, "lease", ok, err)
	y.rotate(t)
	if now, err := vault.Grant(t.Context(), y.oauth.ID, nil); err != nil || now.Version != g.Version || !now.UpdatedAt.Equal(g.UpdatedAt) {
		t.Errorf("grant = %+v, %v", now.Credential, err)
	}
	fresh := g.Tokens
	fresh.AccessToken = "fresh"
	ok, err = vault.SaveRefreshed(t.Context(), lease, g, fresh)
	wantTrue(t, "save what the refresh gave", ok, err)
	y.wantRotated(t)
}

func TestRotation_UnreadableRowKeepsOldKey(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
	spoil := `update credentials set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where connector_id = $1 and agent_id is not null`
	if err := asSystem(t.Context(), y.Pool, spoil, []any{y.plain.ID}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		var named []string
		err := y.St.RotateSealingKeys(t.Context(), y.alone(t, func(p store.RotationProgress) {
			if p.Step == store.SecretUnreadable {
				named = append(named, p.Row)
			}
		}))
		if f := fault.As(err); f == nil || f.Kind != fault.Conflict || !strings.HasPrefix(f.Message, "No key opens 1 secret") {
			t.Errorf("error = %v", err)
		}
		if len(named) != 1 || !strings.Contains(named[0], "credentials tenant_id="+y.Tenant.String()) || !strings.Contains(named[0], "agent_id="+y.agent.ID.String()) {
			t.Errorf("named: %q", named)
		}
		st := y.open(t)
		if n, unfinished, _ := st.SealingKeys(); n != 2 || !unfinished || !st.Keyring().Holds(y.old) {
			t.Errorf("%d keys, unfinished: %v", n, unfinished)
		}
	}
	y.CredentialIn(t, y.Tenant, y.plain.ID, &y.agent.ID, "agent's")
	y.rotate(t)
	y.wantRotated(t)
}

func TestASecondRotationAtOnceIsRefused(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
	other, tried := y.open(t), 0
	err := y.St.RotateSealingKeys(t.Context(), y.alone(t, func(store.RotationProgress) {
		tried++
		if err := other.RotateSealingKeys(t.Context(), store.RotationOptions{}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "already running") {
			t.Errorf("the second: %v", err)
		}
	}))
	if err != nil || tried == 0 {
		t.Error(err)
	}
	y.wantRotated(t)
}

func TestRotation_WaitsForLiveProcesses(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
	older, dead := fixture.NewInstance(), fixture.NewInstance() // a program that knows of no generations; one that is silent
	for id, beat := range map[connectors.InstanceID]string{older: "1 hour", dead: "-7 seconds"} {
		if err := asSystem(t.Context(), y.Pool, "insert into instances (id, beat_at) values ($1, now() + $2::text::interval)", []any{id, beat}); err != nil {
			t.Fatal(err)
		}
	}
	o := y.alone(t, nil)
	o.Patience = 3 * time.Second
	err := y.St.RotateSealingKeys(t.Context(), o)
	if f := fault.As(err); f == nil || f.Kind != fault.Unavailable || !strings.HasPrefix(f.Message, "1 of 2 Patchbay servers haven't loaded the new keys") {
		t.Errorf("error = %v", err)
	}
	if st := y.open(t); st.Keyring().Primary() != y.old {
		t.Error("the new key seals, and a living process does not have it")
	}
	if err := y.St.System().Syncs().EndInstance(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	y.rotate(t)
	y.wantRotated(t)
}

func TestAnOldKeyIsNotRetiredUnderAWriter(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
	sleeper, written, commit := y.open(t), make(chan struct{}), make(chan struct{})
	var writer sync.WaitGroup
	release := sync.OnceFunc(func() { close(commit) })
	defer func() { release(); writer.Wait() }()
	write := func() {
		err := sleeper.Tenant(y.Tenant).Tx(t.Context(), func(tx *store.Tenant) error {
			err := tx.Accounts().SaveFlow(t.Context(), y.flow(1)) // by the old key: this process has not reloaded, and the row is not committed
			close(written)
			<-commit
			return err
		})
		if err != nil {
			t.Errorf("write: %v", err)
		}
	}
	short, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := y.St.RotateSealingKeys(short, y.alone(t, func(p store.RotationProgress) {
		if p.Step == store.KeyPromoted {
			writer.Go(write)
			<-written
			time.AfterFunc(time.Second, cancel)
		}
	}))
	if short.Err() == nil || !y.open(t).Keyring().Holds(y.old) {
		t.Errorf("the rotation did not wait for the writer: %v", err)
	}
	release()
	writer.Wait()
	y.rotate(t)
	y.wantRotated(t)
	y.flows = 2
	y.wantFlows(t, y.St)
}

func TestNobodyWritesWhatARetiredKeySealed(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
	sleepers := []*store.Store{y.open(t), y.open(t), y.open(t)}
	old, err := y.Keyring.Seal("x", secret.AD{})
	if err != nil {
		t.Fatal(err)
	}
	y.rotate(t)
	for _, table := range sealedTables(t, y.Pool) {
		err := asSystem(t.Context(), y.Pool, "update "+table+" set sealed = $1", []any{old})
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "PB001" {
			t.Errorf("%s takes it: %v", table, err)
		}
	}
	// A process that slept through it all finds out, and loses nothing.
	door, vault := sleepers[0].Tenant(y.Tenant), sleepers[1].Vault(y.Tenant)
	err = door.Tx(t.Context(), func(tx *store.Tenant) error {
		if err := tx.Rename(t.Context(), "Renamed"); err != nil {
			return err
		}
		return tx.Connectors().SetClientSecret(t.Context(), y.oauth, "configured")
	})
	if self, selfErr := door.Self(t.Context()); err != nil || selfErr != nil || self.Name != "Renamed" {
		t.Errorf("a transaction: %v, %v, %+v", err, selfErr, self)
	}
	g, err := y.St.Vault(y.Tenant).Grant(t.Context(), y.oauth.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	lease, ok, err := vault.LeaseGrant(t.Context(), g, time.Minute)
	wantTrue(t, "lease", ok, err)
	ok, err = vault.SaveRefreshed(t.Context(), lease, g, g.Tokens)
	wantTrue(t, "save", ok, err)
	if err := sleepers[2].Tenant(y.Tenant).Accounts().SaveFlow(t.Context(), y.flow(9)); err != nil {
		t.Error(err)
	}
	y.wantRotated(t)
}

func TestOnlyTheSystemRetiresKeys(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	_, err := scoped(t, w, w.Tenant.String()).Exec(t.Context(), `insert into retired_keys (prefix) values ('\x0100000000')`)
	if err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("a tenant retires a key: %v", err)
	}
	if !slices.Contains(sealedTables(t, w.Pool), "credentials") {
		t.Error("credentials are not among the tables with secrets")
	}
}
