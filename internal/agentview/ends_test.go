package agentview_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// databaseTime returns the database's time.
func (b *testEnv) databaseTime(t testing.TB) (now time.Time) {
	t.Helper()
	if err := b.Pool.QueryRow(t.Context(), "select clock_timestamp()").Scan(&now); err != nil {
		t.Fatal(err)
	}
	return now
}

// endIn sets the end of a grant, in whole seconds of the database's time.
func (b *testEnv) endIn(t testing.TB, agent connectors.AgentID, c connectors.ConnectorID, in time.Duration) time.Time {
	t.Helper()
	end := b.databaseTime(t).Add(in).Truncate(time.Second)
	b.Grant(t, agent, c, func(g *connectors.Grant) { g.Ends = &connectors.GrantEnds{Until: &end} })
	return end
}

// Two replicas cache the same view. Their clocks are an hour apart, and no notice of the end comes.
func TestEnd_IsTheSameMomentInEveryReplica(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	end := b.endIn(t, agent.ID, c.ID, 3*time.Second)
	caches := map[string]*agentview.Cache{
		"a right clock":  b.cache,
		"a late clock":   newConnectedCache(t, b.openOtherStore(t), agentview.Options{Now: func() time.Time { return time.Now().Add(-time.Hour) }}),
		"an early clock": newConnectedCache(t, b.openOtherStore(t), agentview.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }}),
	}
	ref := connectors.Ref(agent.ID.String())
	listed := func(cache *agentview.Cache) (before, after time.Time, listed bool, held *agentview.Tool) {
		before = b.databaseTime(t)
		v, err := cache.ByAgent(t.Context(), b.Tenant, ref)
		if err != nil {
			t.Fatal(err)
		}
		held = v.Connector(c.Slug).Tool("search")
		listed = held.Listed() && !held.HasEnded()
		return before, b.databaseTime(t), listed, held
	}
	const early = 500 * time.Millisecond // how much earlier a replica may refuse, on a busy machine
	for name, cache := range caches {
		eventually(t, name+": the grant ends", func() bool {
			before, after, listed, _ := listed(cache)
			switch {
			case listed && !before.Before(end):
				t.Fatalf("%s: permitted at %s, after the end at %s", name, before, end)
			case !listed && after.Before(end.Add(-early)):
				t.Fatalf("%s: refused at %s, before the end at %s", name, after, end)
			}
			return !listed
		})
	}
	for name, cache := range caches {
		_, _, _, tool := listed(cache)
		if tool.BlockedBy != agentview.HeldEnded || tool.End == nil || !tool.End.Equal(end) {
			t.Errorf("%s: blocked by %q, end %v, want %s", name, tool.BlockedBy, tool.End, end)
		}
	}
}

func TestEnd_ChangesListsOfListeners(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search", "create")
	b.waitForNotices(t)
	end := b.endIn(t, agent.ID, c.ID, 2*time.Second)
	b.waitForNotices(t)
	changes, stop := b.cache.Subscribe(b.view(t, agent.ID))
	defer stop()
	if diff := cmp.Diff(agentview.Changed{Tools: true}, next(t, changes)); diff != "" {
		t.Error(diff)
	}
	if now := b.databaseTime(t); now.Before(end.Add(-500 * time.Millisecond)) {
		t.Errorf("the lists changed at %s, before the end at %s", now, end)
	}
	eventually(t, "the list is empty", func() bool { return len(b.view(t, agent.ID).Tools) == 0 })
}

// The tool with an end of its own ends, the permanent one stays.
func TestEnd_OfOneToolLeavesTheOthers(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search", "create")
	end := b.databaseTime(t).Add(2 * time.Second).Truncate(time.Second)
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) {
		g.AllTools, g.Tools = false, []string{"search"}
		g.Ends = &connectors.GrantEnds{Tools: map[string]*time.Time{"create": &end}}
	})
	b.waitForNotices(t)
	if got := len(b.view(t, agent.ID).Tools); got != 2 {
		t.Fatalf("%d tools are listed before the end, want 2", got)
	}
	eventually(t, "one tool ends", func() bool { return len(b.view(t, agent.ID).Tools) == 1 })
	why, err := b.cache.ExplainTool(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()), connectors.ExposedName(c.Slug, "create"))
	if err != nil {
		t.Fatal(err)
	}
	want := "Access ended at " + end.Format("2006-01-02 15:04:05 UTC") + ". Grant it again to continue."
	if why.State != agentview.HeldEnded || why.Callable || why.Advice != want {
		t.Errorf("state %q, advice %q, want %q", why.State, why.Advice, want)
	}
}
