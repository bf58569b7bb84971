package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// swept goes through one part of w.Tenant's history that is older than days, in small batches, and says how many rows went.
func swept(t *testing.T, w *fixture.World, part connectors.HistoryPart, days int) int {
	t.Helper()
	batch, gone := store.SweepBatch{Before: connectors.HistoryStart(time.Now(), days), Max: 3}, 0
	for {
		s, err := w.Door().SweepHistory(t.Context(), part, batch)
		if err != nil {
			t.Fatal(err)
		}
		if gone += s.Rows; !s.More {
			return gone
		}
		batch.After = s.Last
	}
}

func TestSweepCalls_DeletesOldEnded(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.OldCalls(t, c, "search", 91, 10)
	w.OldCalls(t, c, "search", 89, 4)
	w.OldCalls(t, c, "open", 91, 3)
	for i, state := range []string{"status = 'running'", "status = 'pending_approval'", "status = 'running', task = '{}', task_handle = 'a'"} {
		w.AsSystem(t, `update tool_calls set completed_at = null, duration_us = null, outcome = '', tool = 'kept', `+state+`
			where id = (select id from tool_calls where tool = 'open' order by id limit 1)`, nil)
		_ = i
	}
	if n := swept(t, w, connectors.PartCalls, 90); n != 10 {
		t.Errorf("%d calls went", n)
	}
	var left, kept int
	w.AsSystem(t, "select count(*), count(*) filter (where tool = 'kept') from tool_calls", nil, &left, &kept)
	if left != 7 || kept != 3 {
		t.Errorf("%d calls are left, %d of them open", left, kept)
	}
}

func TestSweepRuns_KeepsNewestAndRunning(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	idle, busy := w.Connector(t), w.Connector(t)
	for range 4 {
		w.Synced(t, idle.ID)
	}
	newest := w.Synced(t, idle.ID)
	w.Synced(t, busy.ID)
	ended := w.Synced(t, busy.ID)
	running := w.Run(t, busy.ID)
	w.Backdate(t, 100)
	if n := swept(t, w, connectors.PartRuns, 90); n != 5 {
		t.Errorf("%d runs went", n)
	}
	for name, c := range map[string]struct {
		connector connectors.ConnectorID
		want      int
	}{"the newest": {newest.ConnectorID, 1}, "the newest that ended and the running one": {ended.ConnectorID, 2}} {
		list, err := w.Door().Syncs().List(t.Context(), c.connector, store.Page{})
		if err != nil || len(list.Items) != c.want {
			t.Errorf("%s: %d are left, %v", name, len(list.Items), err)
		}
	}
	_ = running
}

func TestSweepRuns_RepeatedRunIsNotOld(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	for range 3 {
		w.Synced(t, c.ID)
	}
	w.Backdate(t, 100)
	w.AsSystem(t, `update sync_runs set repeats = 5, repeated_at = now() - interval '80 days' where id = (select id from sync_runs order by id limit 1)`, nil)
	if n := swept(t, w, connectors.PartRuns, 90); n != 1 {
		t.Errorf("%d runs went", n)
	}
}

func TestASweepForgetsOldHoursOfEachConnector(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 3 {
		c := w.Connector(t)
		w.AsSystem(t, `insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max)
			select $1, $2, date_trunc('hour', now()) - make_interval(hours => i), 1, 0, 5, 5 from generate_series(700, 740) i`, []any{w.Tenant, c.ID})
	}
	before := connectors.HistoryStart(time.Now(), 30)
	gone := swept(t, w, connectors.PartHealth, 30)
	var old int
	w.AsSystem(t, "select count(*) from connector_health where hour < $1", []any{before}, &old)
	if gone < 3*20 || old != 0 || w.Count(t, "connector_health") != 3*41-gone {
		t.Errorf("%d went, %d old ones are left", gone, old)
	}
}

func TestAWeekOfHealthIsTheSameAfterASweep(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.AsSystem(t, `insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max)
		select $1, $2, date_trunc('hour', now()) - make_interval(hours => i), 1, 0, 5, 5 from generate_series(1, 800) i`, []any{w.Tenant, c.ID})
	week := func() []connectors.HealthHour {
		hours, err := w.Door().Syncs().ConnectorHealth(t.Context(), c.ID, time.Now().Add(-7*24*time.Hour))
		if err != nil || len(hours) < 160 {
			t.Fatal(len(hours), err)
		}
		return hours
	}
	before := week()
	swept(t, w, connectors.PartHealth, connectors.MinHistoryDays)
	if diff := cmp.Diff(before, week()); diff != "" {
		t.Error(diff)
	}
}

func TestSweepCalls_KeepsCounts(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	w.Resynced(t, c.ID, version("search", 1))
	w.Resynced(t, c.ID, version("search", 2))
	w.OldCalls(t, c, "search", 29.9, 5)
	w.OldCalls(t, c, "search", 31, 7)
	if n := swept(t, w, connectors.PartCalls, connectors.MinHistoryDays); n != 7 {
		t.Errorf("%d calls went", n)
	}
	if changes := w.Changes(t); len(changes) != 1 || changes[0].Calls != 5 {
		t.Errorf("%+v", changes)
	}
}

func TestKeysThatHaveBeenOfNoUseForLongGo(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	revoked, expired, lately := w.APIKey(t, connectors.RoleViewer), w.APIKey(t, connectors.RoleViewer), w.APIKey(t, connectors.RoleViewer)
	w.APIKey(t, connectors.RoleViewer)
	agent := w.Agent(t)
	_, token := w.TokenIn(t, w.Tenant, agent.ID)
	w.Token(t, agent.ID)
	for sql, id := range map[string]any{
		"update api_keys set revoked_at = now() - interval '91 days' where id = $1":     revoked.ID,
		"update api_keys set expires_at = now() - interval '91 days' where id = $1":     expired.ID,
		"update api_keys set revoked_at = now() - interval '89 days' where id = $1":     lately.ID,
		"update agent_tokens set expires_at = now() - interval '91 days' where id = $1": token.ID,
	} {
		w.AsSystem(t, sql, []any{id})
	}
	if n := swept(t, w, connectors.PartKeys, 90); n != 3 {
		t.Errorf("%d went", n)
	}
	if keys, tokens := w.Count(t, "api_keys"), w.Count(t, "agent_tokens"); keys != 2 || tokens != 1 {
		t.Errorf("%d keys and %d tokens are left", keys, tokens)
	}
}

func TestASweepTouchesOneTenantAlone(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	theirs := w.ConnectorIn(t, w.Other)
	w.OldCalls(t, theirs, "search", 200, 5)
	for range 3 {
		w.SyncedIn(t, w.Other, theirs.ID, "a")
	}
	w.Backdate(t, 200)
	for _, part := range connectors.HistoryParts {
		if n := swept(t, w, part, 90); n != 0 {
			t.Errorf("%d rows of another tenant's %s went", n, part)
		}
	}
}

func TestSweepExpired_DeletesUnusable(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	ctx := t.Context()
	for _, err := range []error{
		w.Door().Accounts().SaveFlow(ctx, newFlow(c, 1)), w.Door().Accounts().SaveFlow(ctx, newFlow(c, 2)), w.Door().Accounts().SaveConnectLink(ctx, newLink(c, 1)), w.Door().Accounts().SaveConnectLink(ctx, newLink(c, 2)),
		w.St.System().SaveSetupLink(ctx, w.Tenant, []byte("mine")), w.St.System().SaveSetupLink(ctx, w.Other, []byte("theirs")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Member(t, connectors.RoleOwner)
	for _, sql := range []string{
		"update oauth_flows set expires_at = now() - interval '1 second' where id = (select id from oauth_flows order by id limit 1)",
		"update connect_links set expires_at = now() - interval '1 second' where token_hash = (select token_hash from connect_links order by token_hash limit 1)",
		"insert into sign_in_failures (account, address, at) values ('a', 'b', now() - interval '25 hours'), ('a', 'b', now())",
		`insert into client_registrations (tenant_id, issuer, redirect_uri, client_id, source, secret_expires_at)
		 select id, 'https://as.example', slug, 'c', 'dynamic', now() + case slug when 'acme' then interval '-25 hours' else interval '1 hour' end from tenants`,
	} {
		w.AsSystem(t, sql, nil)
	}
	if n, err := w.St.System().SweepExpired(ctx); n != 5 || err != nil {
		t.Errorf("%d went, %v", n, err)
	}
	for _, table := range []string{"oauth_flows", "connect_links", "setup_links", "sign_in_failures", "client_registrations"} {
		if n := w.Count(t, table); n != 1 {
			t.Errorf("%s: %d are left", table, n)
		}
	}
}

// retentionAttempts are the outsider's at another tenant's history.
var retentionAttempts = map[string]attempt{
	"SweepHistory": func(ctx context.Context, o outsider) (bool, error) {
		rows := 0
		for _, part := range connectors.HistoryParts {
			s, err := o.door.SweepHistory(ctx, part, store.SweepBatch{Before: time.Now().Add(time.Hour), Max: 1000})
			if rows += s.Rows; err != nil {
				return true, err
			}
		}
		return rows > 0, nil
	},
	"Lists.OldestHistory": func(ctx context.Context, o outsider) (bool, error) {
		at, err := o.door.Lists().OldestHistory(ctx)
		return !at.IsZero(), err
	},
	"SetHistoryDays": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.SetHistoryDays(ctx, 31); err != nil {
			return true, err
		}
		theirs, err := o.Door().Self(ctx)
		return theirs.HistoryDays == 31, err
	},
}

// ownHistory are the methods that are about the outsider's own rows.
var ownHistory = map[string]bool{"SweepHistory": true, "Lists.OldestHistory": true, "SetHistoryDays": true}
