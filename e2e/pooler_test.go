//go:build e2e

package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
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

// TestARestartOfPgBouncerUnderLoadIsSurvived has it killed while agents call; afterwards calls, syncs and what tells of changes go on.
func TestARestartOfPgBouncerUnderLoadIsSurvived(t *testing.T) {
	t.Parallel()
	for name, past := range map[string]bool{"with a way past it": true, "with none": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := pgtest.URL(t)
			bouncer := pgtest.StartBouncer(t, pgtest.Pooled(t, database), 5)
			h := newHome(t)
			h.env = append(h.env, "PATCHBAY_PRIVATE_ADDR=127.0.0.1:0", "PATCHBAY_LOG_FORMAT=json", "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+bouncer.URL)
			if past {
				h.env = append(h.env, "PATCHBAY_DATABASE_DIRECT_URL="+database)
			}
			s := h.launch()
			s.waitReady()
			c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
			up := newGrowing(t, false)
			c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Growing", "url": up.url, "sync_interval_s": 0, "tool_changes": "auto"})
			c.must(http.StatusOK, http.MethodPost, "/connectors/growing/sync_tools", nil)
			c.listens(t, "growing", nil)
			robin := c.hire("robin", "growing")
			session, heard := gate{base: s.base, token: robin.token}.listener(t, "/mcp/growing")
			s.hasListener(t)

			calls := robin.callsOn(t, "mcp_growing__first")
			for range 3 {
				calls.more(t, 20)
				bouncer.Restart(t)
			}
			calls.more(t, 20)
			calls.end()

			eventually(t, func() error {
				status, answer, err := c.try(http.MethodPost, "/connectors/growing/sync_tools", nil)
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("%d %v", status, answer)
				}
				return err
			})
			up.grow("after")
			hears(t, session, heard, "after")
			eventually(t, func() error {
				_, answer, err := c.try(http.MethodGet, "/api/v1/tool_calls?status=running", nil)
				if open, _ := answer["items"].([]any); err == nil && len(open) > 0 {
					err = fmt.Errorf("%d calls are said to run", len(open))
				}
				return err
			})
			if code := s.terminate(); code != 0 {
				t.Errorf("the server ended with %d", code)
			}
		})
	}
}

// calling is an agent that calls a tool without end.
type calling struct {
	good atomic.Int64
	end  func()
}

func (a agent) callsOn(t *testing.T, tool string) *calling {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	c := &calling{end: func() {
		stop()
		callers.Wait()
	}}
	for range 4 {
		callers.Go(func() {
			for ctx.Err() == nil {
				message, header := modern("tools/call", fmt.Sprintf(`"name":%q,"arguments":{}`, tool))
				if _, _, r, err := a.try(ctx, "/mcp", message, header...); err == nil && r.Error == nil && !strings.Contains(string(r.Result), `"isError":true`) {
					c.good.Add(1)
				}
			}
		})
	}
	t.Cleanup(c.end)
	return c
}

// more waits until so many more calls have worked.
func (c *calling) more(t *testing.T, n int64) {
	t.Helper()
	before := c.good.Load()
	eventually(t, func() error {
		if now := c.good.Load() - before; now < n {
			return fmt.Errorf("%d calls have worked", now)
		}
		return nil
	})
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
