package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// treasury is a world with a secret in every sealed table, sealed by the installation's key, as before tenants'
// keys, or by each tenant's.
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
	hook       connectors.Webhook
	person     connectors.UserID       // with a second factor
	revoked    connectors.CredentialID // of a connector that is gone, with its client's secret
}

// newTreasury is one from before tenants had keys of their own.
func newTreasury(t *testing.T, flows int) treasury {
	t.Helper()
	w := fixture.New(t)
	owner, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(t.Context()) }()
	if _, err := owner.Exec(t.Context(), "select set_config('app.system', 'on', false); delete from tenant_keys; update keysets set per_tenant = false"); err != nil {
		t.Fatal(err)
	}
	if err := w.St.System().Syncs().Heartbeat(t.Context(), w.Instance); err != nil { // which process reads it
		t.Fatal(err)
	}
	return filled(t, w, flows)
}

// dividedTreasury is a fresh one.
func dividedTreasury(t *testing.T, flows int) treasury {
	t.Helper()
	return filled(t, fixture.New(t), flows)
}

func filled(t *testing.T, w *fixture.World, flows int) treasury {
	t.Helper()
	y := treasury{World: w, old: w.Keyring.Primary(), plain: w.Connector(t), agent: w.Agent(t), their: w.ConnectorIn(t, w.Other), oauth: withClient(t, w), stdio: w.Connector(t, program), flows: flows}
	w.Credential(t, y.plain.ID, nil, "shared")
	w.Credential(t, y.plain.ID, &y.agent.ID, "agent's")
	w.CredentialIn(t, w.Other, y.their.ID, nil, "theirs")
	door := w.Door()
	w.Exchanging(t)
	for _, err := range []error{
		door.Accounts().SaveGrant(t.Context(), newGrant(y.oauth)),
		door.Accounts().SaveRegistration(t.Context(), redirectURI, registration()),
		door.Accounts().SaveRegistration(t.Context(), redirectURI, oauth.Registration{Issuer: "https://open.example.com", ClientID: "public", Source: oauth.SourceDynamic}),
		door.Connectors().SetClientSecret(t.Context(), y.oauth, "configured"),
		door.Connectors().SetEnvironment(t.Context(), y.stdio, connectors.Environment{"TOKEN": "in the environment"}),
		door.SSO().Save(t.Context(), connectors.SSO{Issuer: "https://login.example.com", ClientID: "patchbay", GroupsClaim: "groups"}, "a provider's client"),
		door.Accounts().AddDueSigningKey(t.Context(), newSigningKey()),
		door.SSO().SaveTokens(t.Context(), w.Member(t, connectors.RoleMember).UserID, "https://login.example.com", store.SSOTokens{IDToken: "an ID token"}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	gone := withClient(t, w)
	g := newGrant(gone)
	g.Meta.Server.Issuer = issuer
	g.Meta.ClientID = gone.OAuth.ClientID
	for _, err := range []error{door.Connectors().SetClientSecret(t.Context(), gone, "configured"), door.Accounts().SaveGrant(t.Context(), g)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.St.Vault(w.Tenant).ClientSecret(t.Context(), gone, issuer); err != nil { // which binds it to the issuer
		t.Fatal(err)
	}
	grant, err := w.St.Vault(w.Tenant).Grant(t.Context(), gone.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	y.revoked = grant.ID
	if err := door.Connectors().Delete(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	for i := range flows {
		if err := door.Accounts().SaveFlow(t.Context(), y.flow(i)); err != nil {
			t.Fatal(err)
		}
	}
	y.fillApprovals(t)
	y.person = w.Member(t, connectors.RoleMember).UserID
	w.SecondFactor(t, y.person)
	if _, err = door.AuditStreams().Create(t.Context(), newStream("Stream"), "Bearer a SIEM's"); err != nil {
		t.Fatal(err)
	}
	if y.hook, err = door.Webhooks().Create(t.Context(), connectors.Webhook{Name: "Hook", URL: "https://hooks.example.com/"}, store.WebhookSecrets{Now: "what signs"}); err != nil {
		t.Fatal(err)
	}
	return y
}

func (y *treasury) fillApprovals(t *testing.T) {
	t.Helper()
	victim := outsider{World: y.World, agent: y.agent, connector: y.plain}
	y.Grant(t, y.agent.ID, y.plain.ID)
	victim.fillApprovals(t)
	y.call, y.done = victim.waiting, victim.finished
}

func (y treasury) flow(i int) store.NewFlow {
	f := newFlow(y.oauth, 1)
	f.StateHash = fmt.Appendf(nil, "%032d", i)
	return f
}

// open is another process on the same database. It sends heartbeats only when a test asks for one.
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
				if err := st.System().Syncs().Heartbeat(context.WithoutCancel(t.Context()), id); err != nil {
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
		"configured refresh": func() (secret.Text, error) {
			r, err := vault.Revocation(t.Context(), y.revoked)
			return r.ClientSecret + " " + r.Tokens.RefreshToken, err
		},
		"a provider's client": func() (secret.Text, error) {
			return vault.SSOSecret(t.Context(), "https://login.example.com", "patchbay")
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
		fixture.CodeKey.Reveal(): func() (secret.Text, error) {
			f, err := st.System().People().SecondFactor(t.Context(), y.person)
			return f.Key, err
		},
		"what signs": func() (secret.Text, error) {
			_, s, err := vault.WebhookSecrets(t.Context(), y.hook.ID)
			return s.Now, err
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
		f, err := st.System().Sessions().TakeFlow(t.Context(), y.flow(i).StateHash)
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
	if err != nil || len(tables) < 10 {
		t.Fatalf("tables with secrets: %q, %v", tables, err)
	}
	return tables
}

// sealer is the key of a row, and its owner.
type sealer struct {
	tenant connectors.TenantID
	key    secret.KeyID
}

// sealers counts, for each table with secrets, the rows by the key that sealed them.
func sealers(t *testing.T, pool *pgxpool.Pool) map[string]map[sealer]int {
	t.Helper()
	all := map[string]map[sealer]int{}
	for _, table := range sealedTables(t, pool) {
		all[table] = map[sealer]int{}
		var tenants []uuid.UUID
		var texts [][]byte
		tenant := "tenant_id"
		if table == "second_factors" { // of a person in several tenants
			tenant = "'00000000-0000-0000-0000-000000000000'::uuid"
		}
		if err := asSystem(t.Context(), pool, "select array_agg("+tenant+"), array_agg(sealed) from "+table+" where sealed is not null", nil, &tenants, &texts); err != nil {
			t.Fatal(err)
		}
		for i, sealed := range texts {
			id, ok := secret.SealedBy(sealed)
			if !ok {
				t.Errorf("%s has what no key sealed", table)
			}
			all[table][sealer{connectors.TenantID{UUID: tenants[i]}, id}]++
		}
	}
	return all
}

// wantRotated wants the installation to have one key, another than the old one, that has sealed every tenant's, and wantDivided.
func (y treasury) wantRotated(t *testing.T) {
	t.Helper()
	st := y.open(t)
	if n, unfinished, perTenant := st.SealingKeys(); n != 1 || unfinished || !perTenant || st.Keyring().Primary() == y.old {
		t.Errorf("%d keys, unfinished: %v, per tenant: %v", n, unfinished, perTenant)
	}
	y.wantDivided(t, st)
	y.wantAll(t, st)
}

// wantDivided checks that each tenant's one key sealed all of its rows, and the installation's key the tenants'
// keys. A table missing in sealedTables fails here, as does one without the trigger.
func (y treasury) wantDivided(t *testing.T, st *store.Store) {
	t.Helper()
	keys := map[connectors.TenantID]secret.KeyID{}
	for _, id := range []connectors.TenantID{y.Tenant, y.Other} {
		own, err := st.Tenant(id).SealingKeys(t.Context())
		if err != nil || len(own.Keys) != 1 || own.Unfinished {
			t.Errorf("the keys of a tenant: %+v, %v", own, err)
		}
		keys[id] = own.Primary
	}
	if keys[y.Tenant] == keys[y.Other] || st.Keyring().Holds(keys[y.Tenant]) {
		t.Error("two share a key")
	}
	for table, by := range sealers(t, y.Pool) {
		if len(by) == 0 {
			t.Errorf("%s has no sealed row", table)
		}
		for row, n := range by {
			want := keys[row.tenant]
			if table == "tenant_keys" || table == "second_factors" {
				want = st.Keyring().Primary()
			}
			if row.key != want {
				t.Errorf("%s: %d rows are sealed by %s, want %s", table, n, row.key, want)
			}
		}
		var guarded bool
		if err := y.Pool.QueryRow(t.Context(), `select exists (select from pg_trigger where tgrelid = $1::regclass and tgname = 'sealed_by_a_living_key')`, table).Scan(&guarded); err != nil || !guarded {
			t.Errorf("%s takes what a retired key sealed (%v)", table, err)
		}
	}
}
