package mcpadmin_test

import (
	"fmt"
	"testing"
	"time"

	"patchbay/client"
	"patchbay/internal/connectors"
)

func TestUsage_GroupsCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linear := w.Connector(t, func(d *connectors.Draft) { d.Slug = "linear" })
	notes := w.Connector(t, func(d *connectors.Draft) { d.Slug = "notes" })
	w.OldCalls(t, linear, "search", 0.001, 3)
	w.OldCalls(t, notes, "write", 0.001, 2)
	w.OldCalls(t, notes, "write", 2, 4)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleViewer), newest, "")
	stranger := w.connect(t, w.newAPIKey(t, w.Other, connectors.RoleOwner), newest, "")
	var got, none struct {
		Counted   int
		Untrusted []struct {
			Name  string
			Calls int
		}
	}
	for _, test := range []struct {
		hours int
		want  string
	}{
		{6, "5 [{linear 3} {notes 2}]"},
		{168, "9 [{notes 6} {linear 3}]"},
	} {
		got.Untrusted = nil
		a.callTool(t, "get_usage_stats", map[string]any{"hours": test.hours}, &got)
		if have := fmt.Sprint(got.Counted, " ", got.Untrusted); have != test.want {
			t.Errorf("%d hours: %s, want %s", test.hours, have, test.want)
		}
	}
	stranger.callTool(t, "get_usage_stats", nil, &none)
	if none.Counted != 0 || len(none.Untrusted) != 0 {
		t.Errorf("another tenant sees %+v", none)
	}
}

// The statistics start anew, and the calls remain.
func TestUsage_ResetStartsAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	key := w.newAPIKey(t, w.Tenant, connectors.RoleAdmin)
	a := w.connect(t, key, newest, "accept")
	figures := func() (calls int64, divided int) {
		t.Helper()
		var got struct {
			Calls   int64
			Counted int
		}
		a.callTool(t, "get_usage_stats", nil, &got)
		return got.Calls, got.Counted
	}
	count := func(n int) {
		t.Helper()
		w.AsSystem(t, `insert into call_hours (tenant_id, hour, bucket, ok, failed, other) values ($1, date_trunc('hour', now()), 5, $2, 0, 0)
			on conflict (tenant_id, hour, bucket) do update set ok = call_hours.ok + excluded.ok`, []any{w.Tenant.UUID, n})
	}
	count(7)
	if calls, _ := figures(); calls != 7 {
		t.Fatalf("%d calls", calls)
	}
	rows := func() (n int) {
		w.AsSystem(t, "select sum(ok)::int from call_hours where tenant_id = $1", []any{w.Tenant.UUID}, &n)
		return n
	}
	var since struct {
		Since time.Time `json:"usage_since"`
	}
	a.callTool(t, "reset_usage_stats", nil, &since)
	if calls, divided := figures(); calls != 0 || divided != 0 || since.Since.IsZero() || len(a.questions) != 1 {
		t.Errorf("after that %d calls, %d divided, since %v; asked %q", calls, divided, since.Since, a.questions)
	}
	count(2)
	if calls, _ := figures(); calls != 2 || rows() != 9 {
		t.Errorf("%d calls are counted, and %d stored", calls, rows())
	}
	overview, err := w.apiClient(t, key).GetOverview(t.Context(), client.GetOverviewQuery{Hours: 168})
	if err != nil || overview.Total.Calls != 2 || overview.UsageSince == nil || !overview.UsageSince.Equal(since.Since) {
		t.Errorf("the API counts %+v since %v, %v", overview.Total, overview.UsageSince, err)
	}
}
