package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// auditAttempts are the outsider's at the audit log.
var auditAttempts = map[string]attempt{
	"Audit.List": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Audit().List(ctx, store.AuditFilter{Target: "victim"}))
	},
}

func recordEvent(t *testing.T, w *fixture.World, actor, action, target string) {
	t.Helper()
	e := store.Event{ActorType: "person", ActorName: actor, Action: action, Target: target, Detail: map[string]any{"n": 1}, RequestID: "r", IP: "192.0.2.1"}
	if err := store.RecordAnything(t.Context(), w.Door(), e); err != nil {
		t.Fatal(err)
	}
}

func TestTheAuditLogIsFilteredByWhoWhatAndWhen(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	recordEvent(t, w, "anna@example.com", "connector.create", "linear")
	recordEvent(t, w, "anna@example.com", "connector_link.create", "linear")
	recordEvent(t, w, "ben@example.com", "connector.delete", "git_hub")
	found := func(f store.AuditFilter) []string {
		t.Helper()
		list, err := w.Door().Audit().List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, e := range list.Items {
			names = append(names, e.Action)
			if e.ActorType != "person" || string(e.Detail) != `{"n": 1}` || e.IP != "192.0.2.1" || e.RequestID != "r" {
				t.Errorf("%+v", e)
			}
		}
		return names
	}
	now := time.Now()
	for name, tc := range map[string]struct {
		filter store.AuditFilter
		want   []string
	}{
		"all":           {store.AuditFilter{}, []string{"connector.delete", "connector_link.create", "connector.create"}},
		"actor":         {store.AuditFilter{Actor: "ANNA@"}, []string{"connector_link.create", "connector.create"}},
		"target":        {store.AuditFilter{Target: "t_h"}, []string{"connector.delete"}},
		"action":        {store.AuditFilter{Action: "connector.create"}, []string{"connector.create"}},
		"kind of thing": {store.AuditFilter{Action: "connector"}, []string{"connector.delete", "connector.create"}},
		"since":         {store.AuditFilter{Since: new(now.Add(-time.Minute))}, []string{"connector.delete", "connector_link.create", "connector.create"}},
		"in the future": {store.AuditFilter{Since: new(now.Add(2 * time.Hour))}, []string{}},
		"until":         {store.AuditFilter{Until: new(now.Add(-time.Minute))}, []string{}},
		"together":      {store.AuditFilter{Actor: "anna", Action: "connector", Target: "linear"}, []string{"connector.create"}},
	} {
		if diff := cmp.Diff(tc.want, found(tc.filter)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTheAuditLogIsReadPageByPage(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for i := range 5 {
		recordEvent(t, w, "anna", fmt.Sprintf("thing.%d", i), "x")
	}
	var seen []string
	f := store.AuditFilter{Page: store.Page{Limit: 2}}
	for {
		list, err := w.Door().Audit().List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Items {
			seen = append(seen, e.Action)
		}
		if f.Cursor = list.Next; f.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"thing.4", "thing.3", "thing.2", "thing.1", "thing.0"}, seen); diff != "" {
		t.Error(diff)
	}
	if _, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Page: store.Page{Cursor: "invented"}}); !fault.Is(err, fault.Malformed) {
		t.Errorf("an invented cursor: %v", err)
	}
}
