package store_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const (
	dueConnectorCount = 1000
	often             = 15 * time.Minute
)

// insertDueConnectors is many connectors of one interval that are due, with a list that is known.
func insertDueConnectors(t *testing.T, w *fixture.World) {
	t.Helper()
	c := w.Connector(t, func(d *connectors.Draft) { d.SyncInterval = often })
	var columns string // without generated ones
	w.AsSystem(t, "select string_agg(attname, ', ') from pg_attribute where attrelid = 'connectors'::regclass and attnum > 0 and not attisdropped and attgenerated = ''", nil, &columns)
	w.AsSystem(t, `insert into connectors (`+columns+`) select `+columns+` from (
			select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'slug', c.slug || i, 'name', c.name || i))).*
			from connectors c, generate_series(2, $2::int) i where c.id = $1) copies`, []any{c.ID, dueConnectorCount})
	hash := fixture.ListHash(fixture.Definition("search"))
	w.AsSystem(t, "update connectors set tools_hash = $1", []any{hash[:]})
	w.MakeDue(t)
}

// claimAll claims all due connectors for one process.
func claimAll(t *testing.T, w *fixture.World) []store.Claim {
	t.Helper()
	claims, err := w.St.System().Syncs().ClaimDue(t.Context(), w.Instance, allShards(), dueConnectorCount, dueConnectorCount)
	if err != nil || len(claims) != dueConnectorCount {
		t.Fatalf("%d connectors were claimed, %v", len(claims), err)
	}
	return claims
}

// spread checks that times are spread evenly: each sixth of the period has between a third and twice its share.
// An even distribution passes: a part of 90 s has between 2.2 and 4 of the moments that are 5 s apart, 122 to
// 222 of all, with a standard deviation of less than 14.
func spread(t *testing.T, after string, waits []time.Duration, least, most time.Duration) {
	t.Helper()
	if len(waits) != dueConnectorCount {
		t.Fatalf("after %s %d connectors have a time", after, len(waits))
	}
	var parts [6]int
	for _, wait := range waits {
		if wait < least || wait > most {
			t.Errorf("after %s a connector is due %s later; want %s to %s", after, wait, least, most)
			continue
		}
		parts[min(len(parts)-1, len(parts)*int(wait-least)/int(most-least))]++
	}
	for _, n := range parts {
		if mean := dueConnectorCount / len(parts); n < mean/3 || n > mean*2 {
			t.Errorf("after %s the times lie so: %v", after, parts)
			return
		}
	}
}

// waits is how long after its last end each connector is due.
func waits(t *testing.T, w *fixture.World) []time.Duration {
	t.Helper()
	var seconds []float64
	w.AsSystem(t, "select array_agg(extract(epoch from due_at - checked_at)::double precision) from connector_clock where due_at is not null", nil, &seconds)
	all := make([]time.Duration, len(seconds))
	for i, s := range seconds {
		all[i] = time.Duration(s * float64(time.Second))
	}
	return all
}

func TestClock_SpreadsConnectorsOfOneInterval(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	insertDueConnectors(t, w)
	unchanged(t, w, claimAll(t, w), "search")
	spread(t, "a list that was known", waits(t, w), often*95/100-5*time.Second, often*105/100)
	var together int
	w.AsSystem(t, "select count(distinct due_at) from connector_clock where due_at is not null", nil, &together)
	if together > 20 {
		t.Errorf("a minute and a half has %d moments at which something is due", together)
	}
}

func TestClock_SpreadsRetriesAfterFailures(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	insertDueConnectors(t, w)
	var ends []store.ClaimEnd
	for _, c := range claimAll(t, w) {
		ends = append(ends, store.ClaimEnd{Claim: c, Began: time.Now(), Took: time.Second, Error: connectors.SyncError{
			Code: "http_status", Message: "It is overloaded.", Temporary: true, RetryAfter: 20 * time.Minute,
		}})
	}
	if left, err := w.St.System().Syncs().EndFailed(t.Context(), w.Instance, ends); err != nil || len(left) > 0 {
		t.Fatalf("%d ends were not stored, %v", len(left), err)
	}
	spread(t, "a failure", waits(t, w), 20*time.Minute, 22*time.Minute) // never sooner than the server asked for
}

func TestClock_SpreadsRetriesAfterManualFailures(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	const few = 12
	for range few {
		failsByHand(t, w, w.Connector(t, func(d *connectors.Draft) { d.SyncInterval = often }).ID, "timeout")
	}
	different := map[time.Duration]bool{}
	for _, wait := range waits(t, w) {
		different[wait] = true
	}
	if len(different) != few {
		t.Errorf("%d connectors are due after %d different times", few, len(different))
	}
}
