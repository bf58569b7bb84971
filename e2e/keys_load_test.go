package e2e_test

import (
	"context"
	"encoding/hex"
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
	old := sealedPrefixes(t, database)

	stops := []func() int{here.calling("mcp_one__list_labels"), there.calling("mcp_two__list_labels"), c.syncing("synced")}
	said := h.run("keys", "rotate")
	for i, stop := range stops {
		if stop() == 0 {
			t.Errorf("worker %d did nothing meanwhile", i)
		}
	}
	if !strings.Contains(said, "Retired the old key") {
		t.Errorf("the rotation says:\n%s", said)
	}
	now := sealedPrefixes(t, database)
	if len(old) != 1 || len(now) != 1 {
		t.Errorf("sealed before by %v, and now by %v", old, now)
	}
	for prefix, tables := range now {
		if _, same := old[prefix]; same || !strings.Contains(tables, "credentials") || !strings.Contains(tables, "webhooks") {
			t.Errorf("the key %s has sealed %s, before it was %v", prefix, tables, old)
		}
	}
	for _, a := range []agent{here, there} {
		if err := a.once("mcp_one__list_labels"); err != nil {
			t.Error(err)
		}
	}
}

// sealedPrefixes is which keys have sealed what lies in the database, and in which tables: in every column of that name, whoever made it.
func sealedPrefixes(t *testing.T, database *pgx.Conn) map[string]string {
	t.Helper()
	rows, err := database.Query(t.Context(), `
		select format('select substring(sealed from 1 for 5) from %I where sealed is not null', table_name), table_name
		from information_schema.columns where table_schema = 'public' and column_name = 'sealed' order by table_name`)
	if err != nil {
		t.Fatal(err)
	}
	type place struct{ Query, Table string }
	places, err := pgx.CollectRows(rows, pgx.RowToStructByPos[place])
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for _, p := range places {
		rows, err := database.Query(t.Context(), p.Query)
		if err != nil {
			t.Fatal(err)
		}
		prefixes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		if err != nil {
			t.Fatal(err)
		}
		for _, prefix := range prefixes {
			by[hex.EncodeToString(prefix)] += p.Table + " "
		}
	}
	return by
}
