package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/testing/pgtest"
)

// TestPatchbayWorksBehindPgBouncer has all that is said to the database go through five sessions, each transaction in any of them;
// with a way past it for what needs a session of its own, and without.
func TestPatchbayWorksBehindPgBouncer(t *testing.T) {
	t.Parallel()
	for name, past := range map[string]bool{"with a way past it": true, "with none": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := pgtest.URL(t)
			h := newHome(t)
			h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+pgtest.Bouncer(t, pgtest.Pooled(t, database), 5))
			if past {
				h.env = append(h.env, "PATCHBAY_DATABASE_DIRECT_URL="+database)
			}
			s := h.serve()
			s.setUp(newPerson(t))
			worksPooled(t, h, s)
			if found := h.run("doctor"); !strings.Contains(found, "pooler") {
				t.Errorf("the doctor says nothing of the pooler:\n%s", found)
			}
			h.run("keys", "rotate")
			if migrated := h.try("migrate"); (migrated.code == 0) != past {
				t.Errorf("migrate ended with %d: %s", migrated.code, migrated.stderr)
			}
			if code := s.terminate(); code != 0 {
				t.Errorf("the server ended with %d", code)
			}
		})
	}
}

func worksPooled(t *testing.T, h *home, s *server) {
	t.Helper()
	upstream := newCounter(t)
	tenants := []string{"default", h.run("tenant", "create", "Second", "--slug", "second")}
	var everybody sync.WaitGroup
	for _, tenant := range tenants {
		c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", tenant, "--role", "owner", "--name", "tests")}
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Of " + tenant, "slug": tenant, "url": upstream})
		c.must(http.StatusOK, http.MethodPost, "/connectors/"+tenant+"/sync_tools", nil)
		c.must(http.StatusAccepted, http.MethodPost, "/connectors/"+tenant+"/sync_tools?wait=false", nil)
		eventually(t, func() error { return allOK(c, tenant, 2) })
		everybody.Go(func() { c.seesItsOwn(tenant) })
		everybody.Go(func() { c.callsItsOwn(tenant) })
	}
	everybody.Wait()
}

// seesItsOwn reads while others read in the same sessions.
func (c client) seesItsOwn(tenant string) {
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 50 {
				_, answer, err := c.try(http.MethodGet, "/api/v1/connectors", nil)
				items, _ := answer["items"].([]any)
				if err != nil || len(items) != 1 {
					c.t.Errorf("%s sees %v, %v", tenant, answer, err)
					return
				}
				if seen, _ := items[0].(object); seen["slug"] != tenant {
					c.t.Errorf("%s sees %v", tenant, seen["slug"])
				}
			}
		})
	}
	readers.Wait()
}

// callsItsOwn calls through the gateway, and once with a person's approval.
func (c client) callsItsOwn(tenant string) {
	c.t.Helper()
	tool := "mcp_" + tenant + "__count"
	a := c.hire("helper", tenant)
	for n := range 20 {
		message, header := modern("tools/call", fmt.Sprintf(`"name":%q,"arguments":{"n":%d}`, tool, n))
		_, _, r, err := a.try(c.t.Context(), "/mcp", message, header...)
		if err != nil || !strings.Contains(string(r.Result), fmt.Sprintf("number %d", n)) {
			c.t.Errorf("%s calls: %s, %+v, %v", tenant, r.Result, r.Error, err)
		}
	}
	if _, _, err := c.try(http.MethodPatch, "/api/v1/agents/helper", object{"approval": "always_ask"}); err != nil {
		c.t.Error(err)
	}
	_, waits, err := c.try(http.MethodPost, "/api/v1/agents/helper/tool_calls", object{"tool": tool, "arguments": object{"n": 7}})
	if err != nil || waits["status"] != "pending_approval" {
		c.t.Errorf("%s: a call that is to be asked for: %v, %v", tenant, waits, err)
		return
	}
	status, approved, err := c.try(http.MethodPost, fmt.Sprintf("/api/v1/tool_calls/%v/approve", waits["id"]), nil)
	if err != nil || status != http.StatusOK {
		c.t.Errorf("%s: its approval: %d %v, %v", tenant, status, approved, err)
	}
}
