package store_test

import (
	"testing"

	"patchbay/internal/testing/fixture"
)

// A link of very many calls is read in pages, each of which begins within it.
func TestPending_PagesALongLink(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s, at := makeStream(t, w), int64(0)
	w.OldCalls(t, w.Connector(t), "search", 1, 1200)
	for cursor := s.Cursor; at < 1200; {
		page, err := w.Door().AuditStreams().Pending(t.Context(), cursor)
		if err != nil || len(page) == 0 || len(page) > 500 {
			t.Fatalf("%d records after %d, %v", len(page), at, err)
		}
		for _, r := range page {
			if at++; r.Link.Index != at || r.Link.Records != 1200 || r.Sequence != at || r.Call == nil || r.Call.Tool != "search" {
				t.Fatalf("record %d: %+v", at, r)
			}
		}
		if cursor = page[len(page)-1].After; cursor.CallsN != at/1200 {
			t.Errorf("after %d: %+v", at, cursor)
		}
	}
	w.AsOwner(t, "update call_outcomes set records_before = -1200")
	if page, err := w.Door().AuditStreams().Pending(t.Context(), s.Cursor); err == nil {
		t.Errorf("a link with a wrong number is read: %d records", len(page))
	}
}

// What a process leaves behind is closed in links of a bounded length.
func TestEndInstance_MakesLinksOfBoundedLength(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *fixture.World) error{
		"one":  func(w *fixture.World) error { return w.St.System().Syncs().EndInstance(t.Context(), w.Instance) },
		"all":  func(w *fixture.World) error { return w.St.System().Syncs().CloseAllInstances(t.Context()) },
		"dead": func(w *fixture.World) error { return w.St.System().Calls().CloseInstanceCalls(t.Context(), w.Instance) },
	} {
		w := fixture.New(t)
		c := w.Connector(t)
		w.AsSystem(t, `
			insert into tool_calls (tenant_id, id, agent_slug, connector_id, connector_slug, tool, exposed_name, status, arguments, started_at, instance_id)
			select connectors.tenant_id, gen_random_uuid(), 'agent', connectors.id, connectors.slug, 'search', 'search', 'running', '{}', now(), $2
			from connectors, generate_series(1, 4500)
			where connectors.id = $1`, []any{c.ID, w.Instance})
		if err := end(w); err != nil {
			t.Fatal(err)
		}
		var links, longest, calls int
		w.AsSystem(t, "select count(*), max(calls), sum(calls) from call_outcomes where kind = 'ended'", nil, &links, &longest, &calls)
		if links != 3 || longest != 2000 || calls != 4500 {
			t.Errorf("%s: %d links, the longest of %d, %d calls", name, links, longest, calls)
		}
		if check := outcomes(t, w); check.Bad != nil || check.Calls != 4500 {
			t.Errorf("%s: %+v", name, check)
		}
	}
}
