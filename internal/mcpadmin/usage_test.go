package mcpadmin_test

import (
	"fmt"
	"testing"

	"patchbay/internal/connectors"
)

func TestUsageIsCountedByWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linear := w.Connector(t, func(d *connectors.Draft) { d.Slug = "linear" })
	notes := w.Connector(t, func(d *connectors.Draft) { d.Slug = "notes" })
	w.OldCalls(t, linear, "search", 0.001, 3)
	w.OldCalls(t, notes, "write", 0.001, 2)
	w.OldCalls(t, notes, "write", 2, 4)
	a := w.enter(t, w.key(t, w.Tenant, connectors.RoleViewer), newest, "")
	stranger := w.enter(t, w.key(t, w.Other, connectors.RoleOwner), newest, "")
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
		a.does(t, "get_usage_stats", map[string]any{"hours": test.hours}, &got)
		if have := fmt.Sprint(got.Counted, " ", got.Untrusted); have != test.want {
			t.Errorf("%d hours: %s, want %s", test.hours, have, test.want)
		}
	}
	stranger.does(t, "get_usage_stats", nil, &none)
	if none.Counted != 0 || len(none.Untrusted) != 0 {
		t.Errorf("another tenant sees %+v", none)
	}
}
