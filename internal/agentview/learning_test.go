package agentview_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/testing/paniclog"
	"patchbay/internal/toolsearch"
)

const (
	// soon is the interval at which tests write learned words.
	soon         = 20 * time.Millisecond
	noteQuestion = "jot down a note for Zaphod Beeblebrox"
)

// newNoteAgent creates a lean agent of a tenant with n tools that noteQuestion finds alike.
func (b *testEnv) newNoteAgent(t *testing.T, tenant connectors.TenantID, n int) connectors.Agent {
	t.Helper()
	agent := b.AgentIn(t, tenant, func(a *connectors.Agent) { a.ToolList = connectors.ToolListLean })
	c := b.ConnectorIn(t, tenant)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("note_%03d", i)
	}
	b.SyncedIn(t, tenant, c.ID, names...)
	b.GrantIn(t, tenant, agent.ID, c.ID)
	return agent
}

func viewIn(t *testing.T, c *agentview.Cache, tenant connectors.TenantID, agent connectors.AgentID) *agentview.View {
	t.Helper()
	v, err := c.LoadUncached(t.Context(), tenant, connectors.Ref(agent.String()))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func findNotes(t *testing.T, v *agentview.View) []agentview.FoundTool {
	t.Helper()
	found, err := v.FindTools(t.Context(), agentview.ToolSearch{Words: noteQuestion, Limit: 10})
	if err != nil || len(found) == 0 {
		t.Fatalf("found %v, %v", found, err)
	}
	return found
}

// isLearned reports whether a tool's reasons name earlier searches.
func isLearned(f agentview.FoundTool) bool {
	return slices.ContainsFunc(f.Reasons, func(r toolsearch.Reason) bool { return r.Field == toolsearch.FieldHistory })
}

func TestLearning_ChangesTheRankingOfItsTenant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	b.cache = newConnectedCache(t, b.St, agentview.Options{LearnEvery: soon})
	agent, theirs := b.newNoteAgent(t, b.Tenant, 3), b.newNoteAgent(t, b.Other, 3)
	v, other := viewIn(t, b.cache, b.Tenant, agent.ID), viewIn(t, b.cache, b.Other, theirs.ID)
	found := findNotes(t, v)
	if found[0].Name != "note_000" || isLearned(found[0]) {
		t.Fatalf("first is %s", found[0].Name)
	}
	findNotes(t, other)
	v.RememberSearch(noteQuestion, found)
	v.LearnFromCall(found[1].Tool)
	if found = findNotes(t, v); found[0].Name != "note_001" || !isLearned(found[0]) || isLearned(found[1]) {
		t.Errorf("after a call first is %+v", found[0])
	}
	restarted := newConnectedCache(t, b.openOtherStore(t), agentview.Options{LearnEvery: soon})
	eventually(t, "another process ranks so too", func() bool {
		return findNotes(t, viewIn(t, restarted, b.Tenant, agent.ID))[0].Name == "note_001"
	})
	for _, cache := range []*agentview.Cache{b.cache, restarted} {
		if found := findNotes(t, viewIn(t, cache, b.Other, theirs.ID)); found[0].Name != "note_000" || slices.ContainsFunc(found, isLearned) {
			t.Errorf("the other tenant has %+v", found[0])
		}
	}
	rows, err := b.Door().Tools().Learned(t.Context())
	if err != nil || len(rows) == 0 || slices.ContainsFunc(rows, func(r store.LearnedTerm) bool {
		return r.Tool != "note_001" || strings.HasPrefix(r.Term, "zaphod") || strings.HasPrefix(r.Term, "beeble")
	}) {
		t.Errorf("stored are %v, %v", rows, err)
	}
	if n := b.Count(t, "search_terms"); n != len(rows) {
		t.Errorf("%d rows of all tenants, %d of this", n, len(rows))
	}
}

func TestLearning_NeedsTheAgentsOwnSearch(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	var late atomic.Int64
	b.cache = newConnectedCache(t, b.St, agentview.Options{LearnEvery: soon, Now: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
	agent := b.newNoteAgent(t, b.Tenant, 3)
	colleague := b.newNoteAgent(t, b.Tenant, 3)
	load := func() *agentview.View { return viewIn(t, b.cache, b.Tenant, agent.ID) }
	v := load()
	found := findNotes(t, v)
	nothing := func(v *agentview.View, why string) {
		t.Helper()
		if found := findNotes(t, v); found[0].Name != "note_000" || slices.ContainsFunc(found, isLearned) {
			t.Errorf("%s: first is %s", why, found[0].Name)
		}
	}
	v.LearnFromCall(found[1].Tool)
	nothing(v, "without a search")
	v.RememberSearch(noteQuestion, found[:1])
	v.LearnFromCall(found[1].Tool)
	nothing(v, "not found")
	v.RememberSearch(noteQuestion, found)
	viewIn(t, b.cache, b.Tenant, colleague.ID).LearnFromCall(found[1].Tool)
	nothing(v, "called by another agent")
	v.RememberSearch("Zaphod Beeblebrox 42", found)
	v.LearnFromCall(found[1].Tool)
	nothing(v, "of unknown words")
	v.RememberSearch(noteQuestion, found)
	late.Store(int64(11 * time.Minute))
	v.LearnFromCall(found[1].Tool)
	nothing(v, "eleven minutes later")
	if err := b.Door().SetCallSettings(t.Context(), connectors.HistoryNone, connectors.ReadersEveryone, time.Minute); err != nil {
		t.Fatal(err)
	}
	v = load()
	v.RememberSearch(noteQuestion, findNotes(t, v))
	v.LearnFromCall(found[1].Tool)
	if err := b.Door().SetCallSettings(t.Context(), connectors.HistoryFull, connectors.ReadersEveryone, time.Minute); err != nil {
		t.Fatal(err)
	}
	v = load()
	nothing(v, "without a call history")
	found = findNotes(t, v)
	v.RememberSearch(noteQuestion, found)
	v.LearnFromCall(found[2].Tool)
	v.LearnFromCall(found[2].Tool)
	eventually(t, "the lesson is written", func() bool { return b.Count(t, "search_terms") > 0 })
	rows, err := b.Door().Tools().Learned(t.Context())
	if err != nil || slices.ContainsFunc(rows, func(r store.LearnedTerm) bool { return r.Tool != "note_002" || r.Weight > 1 }) {
		t.Errorf("stored are %v, %v", rows, err)
	}
}

func TestLearning_IsBounded(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	now := time.Now()
	cache := agentview.New(agentview.Options{Store: b.St, LearnEvery: time.Hour, Now: func() time.Time { return now }})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { cache.Run(ctx) })
	hostile := b.newNoteAgent(t, b.Tenant, 60)
	v := viewIn(t, cache, b.Tenant, hostile.ID)
	findNotes(t, v)
	flood := func(v *agentview.View) {
		for _, tool := range v.Tools {
			v.RememberSearch("note", []agentview.FoundTool{{Tool: tool}})
			v.LearnFromCall(tool)
		}
	}
	flood(v)
	for range 11 {
		agent := b.Agent(t, func(a *connectors.Agent) { a.ToolList = connectors.ToolListLean })
		b.Grant(t, agent.ID, v.Connectors[0].Connector.ID)
		more := viewIn(t, cache, b.Tenant, agent.ID)
		findNotes(t, more)
		flood(more)
	}
	stop()
	running.Wait() // the rest is written at the end
	var sum float64
	rows, err := b.Door().Tools().Learned(t.Context())
	for _, r := range rows {
		sum += r.Weight
	}
	if err != nil || len(rows) != 30 || sum < 299 || sum > 300 {
		t.Errorf("%d rows with weight %.1f, %v", len(rows), sum, err)
	}
}

// The loop panics that writes learned words.
func TestLearning_PanicLosesItsBatch(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	b := newTestEnv(t)
	b.cache = newConnectedCache(t, b.St, agentview.Options{LearnEvery: soon})
	v := viewIn(t, b.cache, b.Tenant, b.newNoteAgent(t, b.Tenant, 3).ID)
	found := findNotes(t, v)
	v.RememberSearch(noteQuestion, found)
	waitForPanic := b.PanicBelow(t, "(*learning).writeLessons", 1)
	v.LearnFromCall(found[1].Tool)
	waitForPanic()
	v.LearnFromCall(found[2].Tool)
	eventually(t, "the next lesson is written", func() bool { return b.Count(t, "search_terms") > 0 })
	panics.Want(t, safe.Background, "(*learning).writeLessons")
}
