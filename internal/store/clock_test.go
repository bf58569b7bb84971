package store_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	shards "patchbay/internal/queue"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// allShards is every shard of the tenants.
func allShards() []int {
	all := make([]int, shards.Count)
	for i := range all {
		all[i] = i
	}
	return all
}

// claimDue has a process claim what is due.
func claimDue(t *testing.T, w *fixture.World, id connectors.InstanceID, most int) []store.Claim {
	t.Helper()
	claims, err := w.St.System().Syncs().ClaimDue(t.Context(), id, allShards(), 100, most)
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// replica is a process that lives.
func replica(t *testing.T, w *fixture.World) connectors.InstanceID {
	t.Helper()
	id := fixture.NewInstance()
	if err := w.St.System().Syncs().Heartbeat(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id
}

// unchanged ends claims of connectors that list these tools, which are known.
func unchanged(t *testing.T, w *fixture.World, claims []store.Claim, names ...string) {
	t.Helper()
	defs := make([]connectors.Definition, len(names))
	for i, name := range names {
		defs[i] = fixture.Definition(name)
	}
	var ends []store.ClaimEnd
	for _, c := range claims {
		ends = append(ends, store.ClaimEnd{
			Claim: c, Began: time.Now(), Took: 20 * time.Millisecond, ListHash: fixture.ListHash(defs...), Seen: store.ServerObservation{Total: len(defs)},
		})
	}
	left, err := w.St.System().Syncs().EndUnchanged(t.Context(), w.Instance, ends)
	if err != nil || len(left) > 0 {
		t.Fatalf("%d ends were not stored, %v", len(left), err)
	}
}

func fails(t *testing.T, w *fixture.World, c store.Claim, code string) {
	t.Helper()
	left, err := w.St.System().Syncs().EndFailed(t.Context(), w.Instance, []store.ClaimEnd{{
		Claim: c, Began: time.Now(), Took: time.Second, Error: connectors.SyncError{Code: code, Message: "It failed.", Temporary: true},
	}})
	if err != nil || len(left) > 0 {
		t.Fatalf("%d ends were not stored, %v", len(left), err)
	}
}

// failsByHand has a sync fail that a person began.
func failsByHand(t *testing.T, w *fixture.World, id connectors.ConnectorID, code string) {
	t.Helper()
	if _, err := w.Door().Syncs().Fail(t.Context(), w.Run(t, id).ID, connectors.SyncError{Code: code, Message: "It failed."}, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
}

func runsOf(t *testing.T, w *fixture.World, id connectors.ConnectorID) []connectors.SyncRun {
	t.Helper()
	list, err := w.Door().Syncs().List(t.Context(), id, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func clockOf(t *testing.T, w *fixture.World, id connectors.ConnectorID) connectors.Clock {
	t.Helper()
	clock, err := w.Door().Syncs().Clock(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return clock
}

func TestClaimDue_ClaimsEachConnectorOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	mine, theirs := w.Connector(t), w.ConnectorIn(t, w.Other)
	w.Connector(t, func(d *connectors.Draft) { d.SyncInterval = 0 })
	w.Connector(t, func(d *connectors.Draft) { d.Enabled = false })
	if due, err := w.St.System().Syncs().DueShards(t.Context(), 10); err != nil || len(due) != 0 {
		t.Errorf("before anything is due: %v, %v", due, err)
	}
	w.MakeDue(t)

	due, err := w.St.System().Syncs().DueShards(t.Context(), 10)
	if err != nil || due[shards.Shard(w.Tenant.UUID)]+due[shards.Shard(w.Other.UUID)] < 2 {
		t.Errorf("due = %v, %v", due, err)
	}
	var got []connectors.ConnectorID
	for _, c := range claimDue(t, w, w.Instance, 10) {
		got = append(got, c.Connector.ID)
	}
	if len(got) != 2 || !slices.Contains(got, mine.ID) || !slices.Contains(got, theirs.ID) {
		t.Errorf("claimed %v", got)
	}
	if more := claimDue(t, w, replica(t, w), 10); len(more) != 0 {
		t.Errorf("claimed again: %+v", more)
	}
}

func TestAClaimNamesItsShardAsTheQueuesDo(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Connector(t)
	w.MakeDue(t)
	claims, err := w.St.System().Syncs().ClaimDue(t.Context(), w.Instance, []int{shards.Shard(w.Tenant.UUID)}, 100, 10)
	if err != nil || len(claims) != 1 {
		t.Errorf("claims = %v, %v", claims, err)
	}
}

func TestClock_OneSyncPerConnector(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	other := replica(t, w)

	w.MakeDue(t)
	claims := claimDue(t, w, w.Instance, 10)
	start := w.Start(c.ID)
	for _, start.Instance = range []connectors.InstanceID{w.Instance, other} {
		if _, err := w.Door().Syncs().Start(t.Context(), start); fault.As(err).Type != store.TypeSyncRunning {
			t.Errorf("a sync beside the scheduled one: %v", err)
		}
	}
	queued := queue(t, w, c.ID)
	if _, err := w.Door().Syncs().Start(t.Context(), store.SyncStart{Run: &queued.ID, Instance: other}); fault.As(err).Type != store.TypeSyncRunning {
		t.Errorf("a queued sync beside the scheduled one: %v", err)
	}
	unchanged(t, w, claims, "search")

	run, err := w.Door().Syncs().Start(t.Context(), store.SyncStart{Run: &queued.ID, Instance: other})
	if err != nil {
		t.Fatal(err)
	}
	w.MakeDue(t)
	if claims := claimDue(t, w, w.Instance, 10); len(claims) != 0 {
		t.Errorf("claimed beside a run: %+v", claims)
	}
	if _, err := w.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "Late."}, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
	w.MakeDue(t)
	if claims := claimDue(t, w, w.Instance, 10); len(claims) != 1 {
		t.Errorf("after the run: %+v", claims)
	}
}

func TestAClaimOfADeadProcessIsFree(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Synced(t, w.Connector(t).ID, "search")
	w.MakeDue(t)
	dead := replica(t, w)
	lost := claimDue(t, w, dead, 10)
	if len(claimDue(t, w, w.Instance, 10)) != 0 {
		t.Fatal("the claim of a living process was free")
	}
	if err := w.St.System().Syncs().EndInstance(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	mine := claimDue(t, w, w.Instance, 10)
	if len(mine) != 1 {
		t.Fatalf("claims = %+v", mine)
	}

	late := []store.ClaimEnd{{Claim: lost[0], Began: time.Now(), ListHash: fixture.ListHash(fixture.Definition("search"))}}
	if left, err := w.St.System().Syncs().EndUnchanged(t.Context(), dead, late); err != nil || len(left) != 1 {
		t.Errorf("the dead one's end was stored: %v, %v", left, err)
	}
	if _, err := w.Door().Syncs().StartClaimed(t.Context(), lost[0], store.NewSyncRunID(), time.Now()); !fault.Is(err, fault.NotFound) {
		t.Errorf("the dead one's run began: %v", err)
	}
	unchanged(t, w, mine, "search")
}

func TestAProcessThatCouldNotBeatJudgesNobody(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	other := replica(t, w)
	silence := func(id connectors.InstanceID) {
		if err := asSystem(t.Context(), w.Pool, "update instances set beat_at = now() - interval '7 seconds' where id = $1", []any{id}); err != nil {
			t.Fatal(err)
		}
	}
	living := func() (n int) {
		if err := asSystem(t.Context(), w.Pool, "select count(*) from instances", nil, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	silence(other)
	silence(w.Instance)
	beat(t, w)
	if n := living(); n != 2 {
		t.Errorf("%d processes are known to live after an outage, want both", n)
	}
	if err := asSystem(t.Context(), w.Pool, "update instances set steady_since = now() - interval '7 seconds' where id = $1", []any{w.Instance}); err != nil {
		t.Fatal(err)
	}
	beat(t, w)
	if n := living(); n != 1 {
		t.Errorf("%d processes are known to live, want the one that beats", n)
	}
}

func TestSyncsThatFindNothingNewAreOneRun(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	for range 4 {
		w.MakeDue(t)
		unchanged(t, w, claimDue(t, w, w.Instance, 10), "search")
	}
	runs := runsOf(t, w, c.ID)
	if len(runs) != 2 || runs[0].Trigger != connectors.TriggerSchedule || runs[0].State != connectors.SyncOK || runs[0].Repeats != 3 ||
		runs[0].RepeatedAt == nil || runs[0].Counts.Total != 1 {
		t.Fatalf("runs = %+v", runs)
	}
	clock := clockOf(t, w, c.ID)
	if !clock.OKAt.Equal(*runs[0].LastAt()) || !clock.DueAt.After(time.Now().Add(c.SyncInterval*9/10)) {
		t.Errorf("clock = %+v", clock)
	}

	scheduled := runs[0].ID
	w.Synced(t, c.ID, "search")
	w.MakeDue(t)
	unchanged(t, w, claimDue(t, w, w.Instance, 10), "search")
	var got []int
	for _, r := range runsOf(t, w, c.ID) {
		got = append(got, r.Repeats)
		if r.ID == scheduled && r.LastAt() == nil {
			t.Error("the repetitions have no date any more")
		}
	}
	if diff := cmp.Diff([]int{0, 0, 3, 0}, got); diff != "" {
		t.Errorf("repetitions (-want +got):\n%s", diff)
	}
}

func TestAScheduledSyncWithSomethingNewHasARun(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	for range 2 {
		w.MakeDue(t)
		unchanged(t, w, claimDue(t, w, w.Instance, 10), "search")
	}
	w.MakeDue(t)
	claims := claimDue(t, w, w.Instance, 10)
	wrong := []store.ClaimEnd{{Claim: claims[0], Began: time.Now(), ListHash: fixture.ListHash(fixture.Definition("other"))}}
	if left, err := w.St.System().Syncs().EndUnchanged(t.Context(), w.Instance, wrong); err != nil || len(left) != 1 {
		t.Errorf("another list ended as unchanged: %v, %v", left, err)
	}
	run, err := w.Door().Syncs().StartClaimed(t.Context(), claims[0], store.NewSyncRunID(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Door().Syncs().Finish(t.Context(), run.ID, fixture.FirstResult(fixture.Definition("other"))); err != nil {
		t.Fatal(err)
	}
	runs := runsOf(t, w, c.ID)
	if len(runs) != 3 || runs[0].Trigger != connectors.TriggerSchedule || runs[0].Counts.Added != 1 || runs[1].Repeats != 1 {
		t.Errorf("runs = %+v", runs)
	}
	w.MakeDue(t)
	if len(claimDue(t, w, w.Instance, 10)) != 1 {
		t.Error("the run's end did not give the connector free")
	}
}

func TestFailuresForOneReasonAreOneRun(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	for _, code := range []string{"timeout", "timeout", "timeout", "tls"} {
		w.MakeDue(t)
		fails(t, w, claimDue(t, w, w.Instance, 10)[0], code)
	}
	runs := runsOf(t, w, c.ID)
	if len(runs) != 3 || runs[0].ErrorCode != "tls" || runs[1].ErrorCode != "timeout" || runs[1].Repeats != 2 || runs[0].Repeats != 0 {
		t.Fatalf("runs = %+v", runs)
	}
	clock := clockOf(t, w, c.ID)
	if clock.Failures != 4 || clock.FailingSince == nil || !clock.DueAt.After(time.Now().Add(10*time.Minute)) {
		t.Errorf("clock = %+v", clock)
	}
	w.Synced(t, c.ID, "search")
	if clock := clockOf(t, w, c.ID); clock.Failures != 0 || clock.FailingSince != nil {
		t.Errorf("after a success the clock is %+v", clock)
	}
}

func TestClock_NeedsAuthHasNoDueTime(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	bearer := func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer }
	scheduled, asked := w.Connector(t, bearer), w.Connector(t, bearer)
	run := w.Run(t, asked.ID)
	refused := connectors.SyncError{Code: "unauthorized", Message: "The server asks for a credential."}
	if _, err := w.Door().Syncs().Fail(t.Context(), run.ID, refused, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
	w.MakeDue(t)
	fails(t, w, claimDue(t, w, w.Instance, 10)[0], "credential_required")
	for _, c := range []connectors.Connector{scheduled, asked} {
		if clock := clockOf(t, w, c.ID); clock.DueAt != nil || clock.Failures != 1 {
			t.Errorf("clock = %+v", clock)
		}
		w.Credential(t, c.ID, nil, "token")
		if clock := clockOf(t, w, c.ID); clock.DueAt == nil || clock.DueAt.After(time.Now().Add(2*time.Minute)) {
			t.Errorf("with a credential the clock is %+v", clock)
		}
	}
}

func TestClock_ChangedConnectorIsDueAfterInterval(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	d := connectors.DraftOf(c)
	for _, tc := range []struct {
		enabled  bool
		interval time.Duration
	}{{true, time.Hour}, {false, time.Hour}, {true, 0}, {true, time.Minute}} {
		d.Enabled, d.SyncInterval = tc.enabled, tc.interval
		if _, err := w.Door().Connectors().Update(t.Context(), c.ID, 0, d); err != nil {
			t.Fatal(err)
		}
		due := clockOf(t, w, c.ID).DueAt
		if want := tc.enabled && tc.interval > 0; (due != nil) != want {
			t.Errorf("%+v: due at %v", tc, due)
		} else if want && time.Until(*due).Round(time.Minute) != tc.interval {
			t.Errorf("%+v: due at %v", tc, due)
		}
	}
}

func TestClaimDue_OrdersTenantsByClaims(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 12 {
		w.Connector(t)
	}
	w.SetDue(t, -time.Hour)
	for range 3 {
		w.ConnectorIn(t, w.Other)
	}
	if err := asSystem(t.Context(), w.Pool, "update connector_clock set due_at = now() where tenant_id = $1", []any{w.Other}); err != nil {
		t.Fatal(err)
	}
	count := func(claims []store.Claim) map[connectors.TenantID]int {
		n := map[connectors.TenantID]int{}
		for _, c := range claims {
			n[c.Tenant]++
		}
		return n
	}
	first := claimDue(t, w, w.Instance, 4)
	if n := count(first); n[w.Tenant] != 2 || n[w.Other] != 2 {
		t.Errorf("the first four are %v", n)
	}
	capped, err := w.St.System().Syncs().ClaimDue(t.Context(), w.Instance, allShards(), 5, 100)
	if n := count(capped); err != nil || n[w.Tenant] != 3 || n[w.Other] != 1 { // with those that are under way 5 and 3
		t.Errorf("then %v, %v", n, err)
	}
}

func TestAConnectorsHoursAreCounted(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	w.MakeDue(t)
	unchanged(t, w, claimDue(t, w, w.Instance, 10), "search")
	w.MakeDue(t)
	fails(t, w, claimDue(t, w, w.Instance, 10)[0], "timeout")
	if err := asSystem(t.Context(), w.Pool, "update connector_clock set hour = hour - interval '2 hours'", nil); err != nil {
		t.Fatal(err)
	}
	w.MakeDue(t)
	fails(t, w, claimDue(t, w, w.Instance, 10)[0], "timeout")

	hours, err := w.Door().Syncs().ConnectorHealth(t.Context(), c.ID, time.Now().Add(-24*time.Hour))
	if err != nil || len(hours) != 2 {
		t.Fatalf("hours = %+v, %v", hours, err)
	}
	now := time.Now().UTC().Truncate(time.Hour)
	if h := hours[0]; h.OK != 2 || h.Failed != 1 || h.Max != time.Second || h.Mean < 300*time.Millisecond || !h.Hour.Before(now.Add(-time.Hour)) {
		t.Errorf("the past hour is %+v", h)
	}
	if h := hours[1]; h.OK != 0 || h.Failed != 1 || h.Mean != time.Second || h.Max != time.Second {
		t.Errorf("this hour is %+v", h)
	}
}

func TestHealth_RefusedCredentialCountsAsAnswered(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for code, answered := range map[string]int{"unauthorized": 2, "credential_required": 0} {
		c := w.Connector(t)
		w.MakeDue(t)
		fails(t, w, claimDue(t, w, w.Instance, 10)[0], code)
		failsByHand(t, w, c.ID, code)
		failsByHand(t, w, c.ID, "timeout")
		hours, err := w.Door().Syncs().ConnectorHealth(t.Context(), c.ID, time.Now().Add(-24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		all := connectors.TotalUptime(hours)
		if all.OK != answered || all.Failed != 1 || (all.Max == time.Second) != (answered > 0) {
			t.Errorf("%s: counted %+v", code, all)
		}
		if clock, err := w.Door().Syncs().Clock(t.Context(), c.ID); err != nil || clock.Failures != 3 {
			t.Errorf("%s: clock = %+v, %v", code, clock, err)
		}
		failsByHand(t, w, c.ID, code) // it is not due any more
	}
}

func TestReplicasShareWhatIsDue(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	const due = 23
	for range due {
		w.Connector(t)
	}
	w.MakeDue(t)
	claimed := make(chan store.Claim, 2*due)
	var replicas sync.WaitGroup
	for range 4 {
		id := replica(t, w)
		replicas.Go(func() {
			for {
				claims, err := w.St.System().Syncs().ClaimDue(t.Context(), id, allShards(), 100, 3)
				if err != nil {
					t.Error(err)
				}
				for _, c := range claims {
					claimed <- c
				}
				if len(claims) == 0 {
					return
				}
			}
		})
	}
	replicas.Wait()
	close(claimed)
	seen := map[connectors.ConnectorID]bool{}
	for c := range claimed {
		if seen[c.Connector.ID] {
			t.Errorf("%s was claimed twice", c.Connector.ID)
		}
		seen[c.Connector.ID] = true
	}
	if len(seen) != due {
		t.Errorf("%d of %d were claimed", len(seen), due)
	}
}
