package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// setClock gives a connector an error code and a state of its clock.
func (w told) setClock(t *testing.T, c connectors.Connector, code, changes string) {
	t.Helper()
	w.AsSystem(t, `update connectors set last_error_code = $2, last_error_message = 'It does not answer.', last_error_at = now() where id = $1`, []any{c.ID, code})
	w.AsSystem(t, `update connector_clock set `+changes+` where connector_id = $1`, []any{c.ID})
}

// wantNotices looks for conditions twice, and compares the titles of all notices.
func (w told) wantNotices(t *testing.T, want ...string) {
	t.Helper()
	for range 2 { // the second finds nothing
		if _, err := w.St.System().NoticeConditions(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
	}
	titles := []string{}
	for _, n := range w.notices(t, nil) {
		titles = append(titles, n.Title)
	}
	slices.Sort(titles)
	if diff := cmp.Diff(want, titles); diff != "" {
		t.Error(diff)
	}
}

func (w told) named(t *testing.T, name string) connectors.Connector {
	t.Helper()
	return w.Connector(t, func(d *connectors.Draft) { d.Name = name })
}

func TestNoticeConditions_OncePerCondition(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	dead, young, refused, new := w.named(t, "Dead"), w.named(t, "Young"), w.named(t, "Refused"), w.named(t, "New")
	w.setClock(t, dead, "timeout", `failures = 3, failing_since = now() - interval '5 minutes', checked_at = now()`)
	w.setClock(t, young, "timeout", `failures = 2, failing_since = now() - interval '5 minutes', checked_at = now()`)
	w.setClock(t, refused, "unauthorized", `failures = 1, failing_since = now() - interval '11 minutes'`)
	w.setClock(t, new, "credential_required", `failures = 1, failing_since = now() - interval '9 minutes'`)
	w.wantNotices(t, "Dead is down", "Refused needs authorization")
	const recovered = `failures = 0, failing_since = null, ok_at = clock_timestamp()`
	w.setClock(t, dead, "timeout", recovered)
	w.setClock(t, refused, "timeout", recovered)
	w.wantNotices(t, "Dead is down", "Dead recovered", "Refused needs authorization")
}

func TestNoticeConditions_DownByTheTenantsSettings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after connectors.DownAfter // zero: the default
		clock string
		down  bool
	}{
		"two failures at once":            {clock: `failures = 2, failing_since = now() - interval '1 minute', checked_at = now()`},
		"three failures at once":          {clock: `failures = 3, failing_since = now() - interval '1 minute', checked_at = now()`, down: true},
		"one failure, long ago":           {clock: `failures = 1, failing_since = now() - interval '9 hours', checked_at = now() - interval '9 hours'`},
		"a second after nine minutes":     {clock: `failures = 2, failing_since = now() - interval '9 minutes', checked_at = now()`},
		"a second after ten minutes":      {clock: `failures = 2, failing_since = now() - interval '10 minutes', checked_at = now()`, down: true},
		"a second at once, long ago":      {clock: `failures = 2, failing_since = now() - interval '9 hours', checked_at = now() - interval '8.9 hours'`},
		"the first counts":                {after: connectors.DownAfter{Failures: 1, Minutes: 10}, clock: `failures = 1, failing_since = now(), checked_at = now()`, down: true},
		"the tenant waits for more":       {after: connectors.DownAfter{Failures: 50, Minutes: 600}, clock: `failures = 49, failing_since = now() - interval '9 hours', checked_at = now()`},
		"the tenant has waited for hours": {after: connectors.DownAfter{Failures: 50, Minutes: 600}, clock: `failures = 49, failing_since = now() - interval '10 hours', checked_at = now()`, down: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTold(t)
			if tc.after != (connectors.DownAfter{}) {
				if err := w.Door().SetDownAfter(t.Context(), tc.after); err != nil {
					t.Fatal(err)
				}
			}
			c := w.named(t, "Linear")
			w.setClock(t, c, "timeout", tc.clock)
			want := []string{}
			if tc.down {
				want = append(want, "Linear is down")
			}
			w.wantNotices(t, want...)
			now, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
			if err != nil || now.Clock.Down != tc.down || now.Health(time.Now()).Reachable.Down != tc.down {
				t.Errorf("down %v, %v", now.Clock.Down, err)
			}
		})
	}
}

// An unread notice of the same connector does not swallow the next outage: each one reaches the webhooks.
func TestNoticeConditions_EachOutageIsDelivered(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	c := w.named(t, "Linear")
	const failing, recovered = `failures = 3, failing_since = clock_timestamp(), checked_at = now()`, `failures = 0, failing_since = null, ok_at = clock_timestamp()`
	for range 2 {
		w.setClock(t, c, "timeout", failing)
		if _, err := w.St.System().NoticeConditions(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		w.setClock(t, c, "timeout", recovered)
		if _, err := w.St.System().NoticeConditions(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
	}
	w.wantNotices(t, "Linear is down", "Linear is down", "Linear recovered", "Linear recovered")
	if n := len(w.deliveries(t, w.hook)); n != 4 {
		t.Errorf("%d deliveries", n)
	}
}
