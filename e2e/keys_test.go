//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/testing/pgtest"
)

// withCredential makes a connector that wants a token, and gives it the right one.
func withCredential(c client, upstream, slug string) {
	c.t.Helper()
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
		"name": slug, "slug": slug, "url": upstream + "/bearer", "auth": object{"type": "bearer", "token": "dev-token"}, "retry_attempts": 0,
	})
	c.must(http.StatusOK, http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
}

// syncing syncs with a connector's credential, and sets it again, over and over until stop; nothing of it may fail.
func (c client) syncing(slug string) (stop func() (times int)) {
	working, end := context.WithCancel(c.t.Context())
	var work sync.WaitGroup
	times := 0
	work.Go(func() {
		for ; working.Err() == nil; times++ {
			status, answer, err := c.try(http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
			if err != nil || status != http.StatusOK || answer["status"] != "ok" {
				c.t.Errorf("sync %d: %d %v, %v", times, status, answer, err)
			}
			if status, answer, err = c.try(http.MethodPatch, "/api/v1/connectors/"+slug, object{"auth": object{"type": "bearer", "token": "dev-token"}}); err != nil || status != http.StatusOK {
				c.t.Errorf("set the token %d: %d %v, %v", times, status, answer, err)
			}
		}
	})
	return func() int {
		end()
		work.Wait()
		return times
	}
}

func TestKeysRotateWhileTheServerServes(t *testing.T) {
	t.Parallel()
	h, s, _, c := install(t)
	upstream := h.devMCP()
	withCredential(c, upstream, "one")
	withCredential(c, upstream, "two")
	withCredential(c, upstream, "still")

	stopOne, stopTwo := c.syncing("one"), c.syncing("two")
	for range 2 {
		said := h.run("keys", "rotate")
		for _, want := range []string{"Added a new key.", "Waiting for servers to read the new keys: 0 of 1 have.", "New secrets are now encrypted with the new key.", "Re-encrypted 1 of 1.", "Retired the old key"} {
			if !strings.Contains(said, want) {
				t.Errorf("it does not say %q:\n%s", want, said)
			}
		}
	}
	if said := h.run("keys", "rotate", "--tenant", "default"); !strings.Contains(said, "Re-encrypted ") || !strings.Contains(said, "Retired the old key") {
		t.Errorf("of the tenant's own key it says:\n%s", said)
	}
	if stopOne() == 0 || stopTwo() == 0 {
		t.Error("nothing went on meanwhile")
	}
	c.must(http.StatusOK, http.MethodPost, "/connectors/still/sync_tools", nil)
	if found := h.run("doctor"); !strings.Contains(found, "OK       sealing keys   1") {
		t.Errorf("the doctor says:\n%s", found)
	}

	if code := s.terminate(); code != 0 {
		t.Fatalf("the server ended with %d", code)
	}
	if said := h.run("keys", "rotate"); !strings.Contains(said, "Re-encrypted 1 of 1.") || strings.Contains(said, "Waiting") {
		t.Errorf("without a server it says:\n%s", said)
	}
	if said := h.run("keys", "rotate", "--tenant", "default"); !strings.Contains(said, "Re-encrypted 3 of 3.") {
		t.Errorf("without a server it says of the tenant's own key:\n%s", said)
	}
	c.base = h.serve().base
	for _, slug := range []string{"one", "two", "still"} {
		c.must(http.StatusOK, http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
	}
}

// ownDatabase is an installation on a database that a test can look into, across all tenants.
func ownDatabase(t *testing.T) (*home, *pgx.Conn) {
	t.Helper()
	h := newHome(t)
	address := pgtest.Empty(t)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+address)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "select set_config('app.system', 'on', false)"); err != nil {
		t.Fatal(err)
	}
	return h, conn
}

func TestAKilledRotationIsBegunAgain(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	upstream := h.devMCP()
	a, b := h.serve(), h.serve()
	atA := client{t: t, base: a.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	atB := client{t: t, base: b.base, key: atA.key}
	withCredential(atA, upstream, "one")
	withCredential(atB, upstream, "still")
	stop := atA.syncing("one")

	// A server of an older version, which cannot read new keys: the rotation waits for it.
	if _, err := database.Exec(t.Context(), `insert into instances (id, beat_at) values (gen_random_uuid(), now() + interval '1 hour')`); err != nil {
		t.Fatal(err)
	}
	first := h.start("keys", "rotate")
	first.line("Waiting for servers to read the new keys: 2 of 3 have.")
	if o := h.try("keys", "rotate"); o.code != 1 || o.stderr != "patchbay: A key rotation is already running.\n" {
		t.Errorf("a second one at once: %+v", o)
	}
	first.kill()
	if found := h.run("doctor"); !strings.Contains(found, "NOTE     sealing keys   2: a rotation is running or was interrupted.") {
		t.Errorf("the doctor says:\n%s", found)
	}
	second := h.start("keys", "rotate")
	second.line("Waiting")
	if code := second.terminate(); code != 1 || !strings.Contains(second.stderr.text(), "patchbay: Interrupted. Nothing is lost") {
		t.Errorf("interrupted: %d %s", code, second.stderr.text())
	}
	atB.must(http.StatusOK, http.MethodPost, "/connectors/still/sync_tools", nil)

	if _, err := database.Exec(t.Context(), `delete from instances where beat_at > now() + interval '1 minute'`); err != nil {
		t.Fatal(err)
	}
	if said := h.run("keys", "rotate"); !strings.HasPrefix(said, "Continuing an unfinished rotation.") || strings.Contains(said, "Added") {
		t.Errorf("begun again it says:\n%s", said)
	}
	if stop() == 0 {
		t.Error("nothing went on meanwhile")
	}
	var keys, old int
	err := database.QueryRow(t.Context(), `
		select count(distinct substring(sealed from 1 for 5)), count(*) filter (where substring(sealed from 1 for 5) in (select prefix from retired_keys))
		from credentials`).Scan(&keys, &old)
	if err != nil || keys != 1 || old != 0 {
		t.Errorf("%d keys have sealed credentials, %d of them by a retired one (%v)", keys, old, err)
	}
	atB.must(http.StatusOK, http.MethodPost, "/connectors/still/sync_tools", nil)
}

// content is a digest of every row of every table.
func content(t *testing.T, database *pgx.Conn) string {
	t.Helper()
	rows, err := database.Query(t.Context(), `
		select format('select %L || coalesce(md5(string_agg(t::text, '';'' order by t::text)), ''-'') from %I t', relname || ' ', relname)
		from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname`)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(queries) < 70 {
		t.Fatalf("%d tables: %v", len(queries), err)
	}
	var all strings.Builder
	for _, query := range queries {
		var digest string
		if err := database.QueryRow(t.Context(), query).Scan(&digest); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, digest)
	}
	return all.String()
}

func TestAWrongOrMissingKeyIsSaidAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	s := h.serve()
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	withCredential(c, h.devMCP(), "one")
	s.terminate()
	right := h.env

	for name, schema := range map[string]string{
		"current": `select 1`,
		// As an upgrade would find it: the schema is older, and must stay so.
		"older": `delete from goose_db_version where version_id = (select max(version_id) from goose_db_version)`,
	} {
		if _, err := database.Exec(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
		before := content(t, database)
		for key, said := range map[string]string{
			"PATCHBAY_KEYSET=" + h.run("keys", "new"): "PATCHBAY_KEYSET can't decrypt this database's keys.",
			"PATCHBAY_KEYSET=":                        "PATCHBAY_KEYSET must be set together with DATABASE_URL",
			"PATCHBAY_KEYSET=hunter2":                 "PATCHBAY_KEYSET must be 32 random bytes in base64, a file:PATH that holds them, or a KMS URI.",
		} {
			h.env = slices.Concat(right, []string{key})
			for _, command := range [][]string{{"serve"}, {"tenant", "create", "North"}, {"keys", "rotate"}} {
				o := h.try(command...)
				if lines := strings.Count(o.stderr, "\n"); o.code != 1 || lines != 1 || !strings.HasPrefix(o.stderr, "patchbay: "+said) || strings.Contains(o.stderr, "hunter2") {
					t.Errorf("%s schema, %v: it ends with %d and says: %s", name, command, o.code, o.stderr)
				}
			}
		}
		h.env = right
		if after := content(t, database); after != before {
			t.Errorf("%s schema: rows changed; before\n%s\nafter\n%s", name, before, after)
		}
	}
}
