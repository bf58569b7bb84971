//go:build e2e

package e2e_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// calling calls a tool with a sealed credential over and over, until stop; no call may fail.
func (a agent) calling(tool string) (stop func() (times int)) {
	working, end := context.WithCancel(a.t.Context())
	var work sync.WaitGroup
	var times atomic.Int64
	for range 2 {
		work.Go(func() {
			for working.Err() == nil {
				if err := a.once(tool); err != nil {
					a.t.Errorf("call %d: %v", times.Load(), err)
				}
				times.Add(1)
			}
		})
	}
	return func() int {
		end()
		work.Wait()
		return int(times.Load())
	}
}

// once calls the tool list_labels of a connector, to its end.
func (a agent) once(tool string) error {
	message, header := modern("tools/call", fmt.Sprintf(`"name":%q,"arguments":{}`, tool))
	status, _, r, err := a.try(a.t.Context(), "/mcp", message, header...)
	if err != nil || r.Error != nil || status != http.StatusOK || !strings.Contains(string(r.Result), "good first issue") {
		return fmt.Errorf("%d %+v %s, %v", status, r.Error, r.Result, err)
	}
	return nil
}

// TestKeysRotateWhileAgentsCallAndServersSync: afterwards no sealed row has the old key. MACs of API keys and
// tokens cannot be recomputed without the text, so they keep their key, and new ones use the new key. A later
// rotation retires the old one (internal/store, TestAKeyThatRecognisesNobodyIsRetired).
func TestKeysRotateWhileAgentsCallAndServersSync(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	upstream := h.devMCP()
	first, second := h.serve(), h.serve()
	c := client{t: t, base: first.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	withCredential(c, upstream, "one")
	withCredential(c, upstream, "two")
	withCredential(c, upstream, "synced")                                                                              // its token is set again and again: a call of that moment would be told so
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/webhooks", object{"name": "Chat", "url": upstream + "/hook"}) // its secret lies sealed elsewhere
	here := c.hire("helper", "one", "two")
	there := here
	there.base = second.base
	old, oldWrapping := sealedPrefixes(t, database)
	recognising := recognisedBy(t, database)
	atSecond := c
	atSecond.base = second.base

	stops := []func() int{
		here.calling("mcp_one__list_labels"), there.calling("mcp_two__list_labels"), c.syncing("synced"),
		c.welcoming("early", atSecond), atSecond.welcoming("late", c),
	}
	ofTenant, ofAll := h.run("keys", "rotate", "--tenant", "default"), h.run("keys", "rotate")
	for i, stop := range stops {
		if stop() == 0 {
			t.Errorf("worker %d did nothing meanwhile", i)
		}
	}
	for _, said := range []string{ofTenant, ofAll} {
		if !strings.Contains(said, "Retired the old key") {
			t.Errorf("the rotation says:\n%s", said)
		}
	}
	now, wrapping := sealedPrefixes(t, database)
	if len(old) != 1 || len(now) != 1 || len(oldWrapping) != 1 || len(wrapping) != 1 {
		t.Errorf("sealed before by %v and %v, and now by %v and %v", old, oldWrapping, now, wrapping)
	}
	for prefix, tables := range now {
		if _, same := old[prefix]; same || !strings.Contains(tables, "credentials") || !strings.Contains(tables, "webhooks") {
			t.Errorf("the key %s has sealed %s, before it was %v", prefix, tables, old)
		}
	}
	for prefix := range wrapping {
		if _, same := oldWrapping[prefix]; same {
			t.Errorf("the tenant's key is sealed by %s still", prefix)
		}
	}
	for _, a := range []agent{here, there} {
		if err := a.once("mcp_one__list_labels"); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(ofAll, "stay valid") {
		t.Errorf("the rotation says:\n%s", ofAll)
	}
	newcomer := c.hire("newcomer", "one")
	newcomer.base = second.base
	if err := newcomer.once("mcp_one__list_labels"); err != nil {
		t.Error(err)
	}
	if by := recognisedBy(t, database); len(recognising) != 1 || len(by) != 2 || by[0] != recognising[0] {
		t.Errorf("keys and tokens were recognised by %v, and are by %v", recognising, by)
	}
}

// welcoming makes API keys and agents' tokens at one server, and shows them to another, over and over until stop; each opens its door.
func (c client) welcoming(name string, other client) (stop func() (times int)) {
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": name, "slug": name, "approval": "auto"})
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/"+name+"/connectors/one", object{"tools": "all"})
	working, end := context.WithCancel(c.t.Context())
	var work sync.WaitGroup
	times := 0
	work.Go(func() {
		for ; working.Err() == nil; times++ {
			if err := c.welcome(name, other); err != nil {
				c.t.Errorf("%s %d: %v", name, times, err)
			}
		}
	})
	return func() int {
		end()
		work.Wait()
		return times
	}
}

func (c client) welcome(name string, other client) error {
	status, made, err := c.try(http.MethodPost, "/api/v1/agents/"+name+"/tokens", object{"name": "A"})
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("make a token: %d %v, %w", status, made, err)
	}
	token, _ := made["token"].(string)
	if err := (agent{t: c.t, base: other.base, token: token}).once("mcp_one__list_labels"); err != nil {
		return err
	}
	status, made, err = c.try(http.MethodPost, "/api/v1/api_keys", object{"name": "A", "role": "viewer"})
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("make an API key: %d %v, %w", status, made, err)
	}
	other.key, _ = made["key"].(string)
	if status, answer, err := other.try(http.MethodGet, "/api/v1/agents", nil); err != nil || status != http.StatusOK {
		return fmt.Errorf("show an API key: %d %v, %w", status, answer, err)
	}
	return nil
}

// recognisedBy is by which keys API keys and agents' tokens are recognised, in the order in which they came.
func recognisedBy(t *testing.T, database *pgx.Conn) []string {
	t.Helper()
	rows, err := database.Query(t.Context(), `
		select encode(substring(secret_mac from 1 for 5), 'hex')
		from (select secret_mac, created_at from api_keys union all select secret_mac, created_at from agent_tokens) as bearers
		group by 1 order by min(created_at)`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sealedPrefixes are the keys that sealed values in the database, by table. It reads every sealed column. Keys
// that sealed tenants' keys are separate.
func sealedPrefixes(t *testing.T, database *pgx.Conn) (values, wrapping map[string]string) {
	t.Helper()
	rows, err := database.Query(t.Context(), `
		select format('select substring(sealed from 1 for 5) from %I where sealed is not null', table_name), table_name
		from information_schema.columns where table_schema = 'public' and column_name = 'sealed' order by table_name`)
	if err != nil {
		t.Fatal(err)
	}
	type place struct{ Query, Table string }
	places, err := pgx.CollectRows(rows, pgx.RowToStructByPos[place])
	if err != nil || len(places) < 10 {
		t.Fatalf("%d tables with secrets: %v", len(places), err)
	}
	values, wrapping = map[string]string{}, map[string]string{}
	for _, p := range places {
		rows, err := database.Query(t.Context(), p.Query)
		if err != nil {
			t.Fatal(err)
		}
		prefixes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			t.Fatal(err)
		}
		by := values
		if p.Table == "tenant_keys" {
			by = wrapping
		}
		for _, prefix := range prefixes {
			by[hex.EncodeToString(prefix)] += p.Table + " "
		}
	}
	return values, wrapping
}

// An installation from before tenants had keys is brought over while it works: nothing fails, and each tenant's secrets lie under its own key.
func TestTenantsGetKeysOfTheirOwnWhileAgentsCall(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	upstream := h.devMCP()
	h.run("tenant", "create", "North")
	if _, err := database.Exec(t.Context(), "update keysets set per_tenant = false"); err != nil {
		t.Fatal(err)
	}
	if _, err := database.Exec(t.Context(), "delete from tenant_keys"); err != nil {
		t.Fatal(err)
	}
	s := h.serve()
	var agents []agent
	for _, tenant := range []string{"default", "north"} {
		c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", tenant, "--role", "owner", "--name", "tests")}
		withCredential(c, upstream, "one")
		agents = append(agents, c.hire("helper", "one"))
	}
	if values, wrapping := sealedPrefixes(t, database); len(values) != 1 || len(wrapping) != 0 {
		t.Errorf("it begins sealed by %v and %v", values, wrapping)
	}
	if found := h.run("doctor"); !strings.Contains(found, "NOTE     sealing keys   1, which encrypts the secrets of all tenants.") {
		t.Errorf("the doctor says:\n%s", found)
	}
	if o := h.try("keys", "rotate", "--tenant", "north"); o.code != 1 || !strings.Contains(o.stderr, "Run patchbay keys rotate without a tenant first.") {
		t.Errorf("one tenant's rotation: %+v", o)
	}
	var stops []func() int
	for _, a := range agents {
		stops = append(stops, a.calling("mcp_one__list_labels"))
	}
	said := h.run("keys", "rotate")
	for i, stop := range stops {
		if stop() == 0 {
			t.Errorf("agent %d did nothing meanwhile", i)
		}
	}
	if !strings.Contains(said, "Each tenant's secrets are now encrypted with its own key.") || !strings.Contains(said, "Retired the old key") {
		t.Errorf("the rotation says:\n%s", said)
	}
	if values, wrapping := sealedPrefixes(t, database); len(values) != 2 || len(wrapping) != 1 {
		t.Errorf("sealed by %v and %v, want a key for each of two tenants, and one that wraps them", values, wrapping)
	}
	for _, a := range agents {
		if err := a.once("mcp_one__list_labels"); err != nil {
			t.Error(err)
		}
	}
}

func TestADeletedTenantIsGoneWithItsKey(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	upstream := h.devMCP()
	h.run("tenant", "create", "North")
	s := h.serve()
	var agents []agent
	for _, tenant := range []string{"default", "north"} {
		c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", tenant, "--role", "owner", "--name", "tests")}
		withCredential(c, upstream, "one")
		agents = append(agents, c.hire("helper", "one"))
		if err := agents[len(agents)-1].once("mcp_one__list_labels"); err != nil {
			t.Fatal(err)
		}
	}
	if o := h.try("tenant", "delete", "north"); o.code != 1 || !strings.Contains(o.stderr, "Add --really to confirm.") {
		t.Errorf("without --really: %+v", o)
	}
	if err := agents[1].once("mcp_one__list_labels"); err != nil {
		t.Errorf("not asked for, and done: %v", err)
	}
	if said := h.run("tenant", "delete", "north", "--really"); !strings.Contains(said, "Deleted north and its encryption key.") {
		t.Errorf("it says: %s", said)
	}
	eventually(t, func() error { // the server hears of it a moment later
		if agents[1].once("mcp_one__list_labels") == nil {
			return errors.New("its agent goes on")
		}
		return nil
	})
	if err := agents[0].once("mcp_one__list_labels"); err != nil {
		t.Errorf("another tenant's agent: %v", err)
	}
	if _, wrapping := sealedPrefixes(t, database); len(wrapping) != 1 {
		t.Errorf("keys are wrapped by %v", wrapping)
	}
	var left int
	if err := database.QueryRow(t.Context(), "select count(*) from tenant_keys").Scan(&left); err != nil || left != 1 {
		t.Errorf("%d tenants have keys (%v)", left, err)
	}
}
