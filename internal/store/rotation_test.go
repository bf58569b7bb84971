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
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// treasury is a world with a secret in every place that there is.
type treasury struct {
	*fixture.World
	old   secret.KeyID
	plain connectors.Connector // with a shared token, and one of an agent
	agent connectors.Agent
	their connectors.Connector // of the other tenant
	oauth connectors.Connector // with a grant, a client secret and flows
	stdio connectors.Connector // with an environment
	flows int

	call, done connectors.Approval // one that waits, and one with a result
}

func newTreasury(t *testing.T, flows int) treasury {
	t.Helper()
	w := fixture.New(t)
	y := treasury{World: w, old: w.Keyring.Primary(), plain: w.Connector(t), agent: w.Agent(t), their: w.ConnectorIn(t, w.Other), oauth: withClient(t, w), stdio: w.Connector(t, program), flows: flows}
	w.Credential(t, y.plain.ID, nil, "shared")
	w.Credential(t, y.plain.ID, &y.agent.ID, "agent's")
	w.CredentialIn(t, w.Other, y.their.ID, nil, "theirs")
	door := w.Door()
	for _, err := range []error{
		door.SaveGrant(t.Context(), newGrant(y.oauth)),
		door.SaveRegistration(t.Context(), redirectURI, registration()),
		door.SaveRegistration(t.Context(), redirectURI, oauth.Registration{Issuer: "https://open.example.com", ClientID: "public", Source: oauth.SourceDynamic}),
		door.SetClientSecret(t.Context(), y.oauth, "configured"),
		door.SetEnvironment(t.Context(), y.stdio, connectors.Environment{"TOKEN": "in the environment"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range flows {
		if err := door.SaveFlow(t.Context(), y.flow(i)); err != nil {
			t.Fatal(err)
		}
	}
	y.fillApprovals(t)
	return y
}

func (y *treasury) fillApprovals(t *testing.T) {
	t.Helper()
	victim := outsider{World: y.World, agent: y.agent, connector: y.plain}
	victim.fillApprovals(t)
	y.call, y.done = victim.waiting, victim.finished
}

func (y treasury) flow(i int) store.NewFlow {
	f := newFlow(y.oauth, 1)
	f.StateHash = fmt.Appendf(nil, "%032d", i)
	return f
}

// open is another process on the same database. It beats only where a test has it beat.
func (y treasury) open(t *testing.T) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), y.Pool, y.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	return st
}

// beating answers a rotation that waits for processes: all of them look.
func (y treasury) beating(t *testing.T, processes map[connectors.InstanceID]*store.Store, and func(store.RotationProgress)) store.RotationOptions {
	return store.RotationOptions{Notify: func(p store.RotationProgress) {
		if p.Step == store.ReadersAwaited {
			for id, st := range processes {
				if err := st.System().Beat(context.WithoutCancel(t.Context()), id); err != nil {
					t.Errorf("beat: %v", err)
				}
			}
		}
		if and != nil {
			and(p)
		}
	}}
}

// alone is a rotation with no other process than the world's own.
func (y treasury) alone(t *testing.T, and func(store.RotationProgress)) store.RotationOptions {
	return y.beating(t, map[connectors.InstanceID]*store.Store{y.Instance: y.St}, and)
}

func (y treasury) rotate(t *testing.T) {
	t.Helper()
	if err := y.St.RotateSealingKeys(t.Context(), y.alone(t, nil)); err != nil {
		t.Fatal(err)
	}
}

// wantAll opens everything but the flows, which open once only.
func (y treasury) wantAll(t *testing.T, st *store.Store) {
	t.Helper()
	vault := st.Vault(y.Tenant)
	for what, read := range map[string]func() (secret.Text, error){
		"shared":       func() (secret.Text, error) { return second(vault.Secret(t.Context(), y.plain.ID, nil)) },
		"agent's":      func() (secret.Text, error) { return second(vault.Secret(t.Context(), y.plain.ID, &y.agent.ID)) },
		"theirs":       func() (secret.Text, error) { return second(st.Vault(y.Other).Secret(t.Context(), y.their.ID, nil)) },
		"configured":   func() (secret.Text, error) { return vault.ClientSecret(t.Context(), y.oauth, issuer) },
		"the verifier": func() (secret.Text, error) { return "the verifier", nil },
		"in the environment": func() (secret.Text, error) {
			e, err := vault.Environment(t.Context(), y.stdio)
			return e["TOKEN"], err
		},
		"arguments of same call": func() (secret.Text, error) { return second(vault.ApprovalCall(t.Context(), y.call.ID)) },
		"a message": func() (secret.Text, error) {
			letters, err := vault.Mail(t.Context(), y.agent.ID, "box", uuid.Nil)
			if len(letters) != 1 {
				return "", fmt.Errorf("%d letters, %w", len(letters), err)
			}
			return letters[0].Message, err
		},
		"refresh": func() (secret.Text, error) {
			g, err := vault.Grant(t.Context(), y.oauth.ID, nil)
			return g.Tokens.RefreshToken, err
		},
		"client's secret": func() (secret.Text, error) {
			r, err := vault.Registration(t.Context(), issuer, redirectURI)
			return secret.Text(r.ClientSecret.Reveal()), err
		},
	} {
		if got, err := read(); err != nil || got.Reveal() != what {
			t.Errorf("%s: %q, %v", what, got.Reveal(), err)
		}
	}
}

// wantFlows opens what opens once: the flows, and the result of a call.
func (y treasury) wantFlows(t *testing.T, st *store.Store) {
	t.Helper()
	if got, err := st.Vault(y.Tenant).FetchApproval(t.Context(), y.done.ID); err != nil || got.Reveal() != "the result" {
		t.Errorf("result: %v", err)
	}
	for i := range y.flows {
		f, err := st.System().TakeFlow(t.Context(), y.flow(i).StateHash)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := st.Vault(y.Tenant).Verifier(f); err != nil || got.Reveal() != "the verifier" {
			t.Errorf("flow %d: %v", i, err)
		}
	}
}

func second[A, B any](_ A, b B, err error) (B, error) { return b, err }

// sealedTables are the tables with a column for what is sealed, as the database knows them.
func sealedTables(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		select relname from pg_class join pg_attribute on attrelid = pg_class.oid
		where relkind in ('r', 'p') and attname = 'sealed' and atttypid = 'bytea'::regtype order by relname`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// sealers counts, for each table with secrets, the rows by the key that sealed them.
func sealers(t *testing.T, pool *pgxpool.Pool) map[string]map[secret.KeyID]int {
	t.Helper()
	all := map[string]map[secret.KeyID]int{}
	for _, table := range sealedTables(t, pool) {
		all[table] = map[secret.KeyID]int{}
		var texts [][]byte
		if err := asSystem(t.Context(), pool, "select array_agg(sealed) from "+table+" where sealed is not null", nil, &texts); err != nil {
			t.Fatal(err)
		}
		for _, sealed := range texts {
			id, ok := secret.SealedBy(sealed)
			if !ok {
				t.Errorf("%s has what no key sealed", table)
			}
			all[table][id]++
		}
	}
	return all
}

// wantRotated wants one key, another than the old one, to have sealed every row of every table that has secrets: a table that is
// not in the store's list of places fails here, and so does one without the trigger.
func (y treasury) wantRotated(t *testing.T) {
	t.Helper()
	st := y.open(t)
	if n, unfinished := st.SealingKeys(); n != 1 || unfinished || st.Keyring().Primary() == y.old {
		t.Errorf("%d keys, unfinished: %v", n, unfinished)
	}
	for table, by := range sealers(t, y.Pool) {
		if len(by) != 1 || by[st.Keyring().Primary()] == 0 {
			t.Errorf("%s is sealed by %v, want rows, and all by %s", table, by, st.Keyring().Primary())
		}
		var guarded bool
		if err := y.Pool.QueryRow(t.Context(), `select exists (select from pg_trigger where tgrelid = $1::regclass and tgname = 'sealed_by_a_living_key')`, table).Scan(&guarded); err != nil || !guarded {
			t.Errorf("%s takes what a retired key sealed (%v)", table, err)
		}
	}
	y.wantAll(t, st)
}

func TestARotationSealsEverythingAnewAndRetiresTheOldKey(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 3)
	sleeper := y.open(t)
	mac, err := y.Keyring.MAC("api key", []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	var steps []store.RotationStep
	err = y.St.RotateSealingKeys(t.Context(), y.alone(t, func(p store.RotationProgress) { steps = append(steps, p.Step) }))
	if err != nil {
		t.Fatal(err)
	}
	want := []store.RotationStep{
		store.KeyAdded, store.ReadersAwaited, store.KeyPromoted, store.ReadersAwaited,
		store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.SecretsResealed,
		store.SecretsResealed, store.SecretsResealed, store.SecretsResealed, store.OldKeysRetired,
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
	y.wantRotated(t)
	y.wantAll(t, y.St)
	y.wantAll(t, sleeper) // which was opened before, and never beat
	y.wantFlows(t, sleeper)
	if err := y.open(t).Keyring().VerifyMAC("api key", []byte("data"), mac); err != nil {
		t.Errorf("an API key from before: %v", err)
	}
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
	err := door.Tx(t.Context(), func(tx *store.Tenant) error { return tx.SetCredential(t.Context(), credential) })
	if err := errors.Join(err, door.SetCredential(t.Context(), credential)); err != nil {
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
	const moments = 14 // three batches of flows, and one of each other place
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

func TestWhatNoKeyOpensKeepsTheOldKeyAndIsNamed(t *testing.T) {
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
		if f := fault.As(err); f == nil || f.Kind != fault.Conflict || !strings.HasPrefix(f.Message, "1 secret cannot be opened by any key") {
			t.Errorf("error = %v", err)
		}
		if len(named) != 1 || !strings.Contains(named[0], "credentials tenant_id="+y.Tenant.String()) || !strings.Contains(named[0], "agent_id="+y.agent.ID.String()) {
			t.Errorf("named: %q", named)
		}
		st := y.open(t)
		if n, unfinished := st.SealingKeys(); n != 2 || !unfinished || !st.Keyring().Holds(y.old) {
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
		if err := other.RotateSealingKeys(t.Context(), store.RotationOptions{}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "under way") {
			t.Errorf("the second: %v", err)
		}
	}))
	if err != nil || tried == 0 {
		t.Error(err)
	}
	y.wantRotated(t)
}

func TestARotationWaitsForTheLivingAndNotForTheDead(t *testing.T) {
	t.Parallel()
	y := newTreasury(t, 1)
	older, dead := fixture.NewInstance(), fixture.NewInstance() // a program that knows of no generations; one that is silent
	for id, beat := range map[connectors.InstanceID]string{older: "1 hour", dead: "-7 seconds"} {
		if err := asSystem(t.Context(), y.Pool, "insert into instances (id, beat_at) values ($1, now() + $2::text::interval)", []any{id, beat}); err != nil {
			t.Fatal(err)
		}
	}
	o := y.alone(t, nil)
	o.Patience = 500 * time.Millisecond
	err := y.St.RotateSealingKeys(t.Context(), o)
	if f := fault.As(err); f == nil || f.Kind != fault.Unavailable || !strings.HasPrefix(f.Message, "1 of 2 servers have not read the new keys") {
		t.Errorf("error = %v", err)
	}
	if st := y.open(t); st.Keyring().Primary() != y.old {
		t.Error("the new key seals, and a living process does not have it")
	}
	if err := y.St.System().EndInstance(t.Context(), older); err != nil {
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
	defer writer.Wait()
	write := func() {
		err := sleeper.Tenant(y.Tenant).Tx(t.Context(), func(tx *store.Tenant) error {
			err := tx.SaveFlow(t.Context(), y.flow(1)) // by the old key: this process has not looked; and nobody sees the row yet
			close(written)
			<-commit
			return err
		})
		if err != nil {
			t.Errorf("write: %v", err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := y.St.RotateSealingKeys(short, y.alone(t, func(p store.RotationProgress) {
		if p.Step == store.KeyPromoted {
			writer.Go(write)
			<-written
		}
	}))
	if short.Err() == nil || !y.open(t).Keyring().Holds(y.old) {
		t.Errorf("the rotation did not wait for the writer: %v", err)
	}
	close(commit)
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
		return tx.SetClientSecret(t.Context(), y.oauth, "configured")
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
	if err := sleepers[2].Tenant(y.Tenant).SaveFlow(t.Context(), y.flow(9)); err != nil {
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
