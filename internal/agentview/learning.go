package agentview

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/store"
	"patchbay/internal/toolsearch"
)

// learning learns which words of searches led to which tools. It remembers the last search of each agent, and a successful
// call of a found tool teaches the words to the tenant. It is best effort: another process may get the call.
type learning struct {
	store    *store.Store
	log      *slog.Logger
	now      func() time.Time
	interval time.Duration

	agentRate  *limit.Rate[agentKey]
	tenantRate *limit.Rate[connectors.TenantID]

	mu          sync.Mutex
	searches    map[agentKey]*lastSearch                   // guarded by mu
	previous    map[agentKey]*lastSearch                   // guarded by mu: the older generation, dropped as a whole
	lessons     map[connectors.TenantID]map[lesson]float64 // guarded by mu: not written yet
	lessonCount int                                        // guarded by mu
	tenants     map[connectors.TenantID]*tenantWords       // guarded by mu
	rowCount    int                                        // guarded by mu: of tenants
}

// Bounds of what is learned, beside those of package store.
const (
	searchTTL        = 10 * time.Minute // a later call teaches nothing
	maxSearches      = 4096             // of a generation
	lessonsPerHour   = 30               // of an agent; as many at once
	tenantLessons    = 300              // the same of a tenant
	maxLessons       = 20_000           // terms that are not written yet
	maxTenantLessons = 5_000            // the same of a tenant
	maxCachedRows    = 200_000          // of all tenants
	learnInterval    = 10 * time.Second // between writes
	wordsTTL         = time.Minute      // what other processes learned comes so late
	idleWords        = 10 * time.Minute // words of a tenant without searches leave memory
	learnTimeout     = 5 * time.Second
	firstReadTimeout = time.Second // a search waits for so long
)

type agentKey struct {
	tenant connectors.TenantID
	agent  connectors.AgentID
}

// lastSearch is the last search of an agent.
type lastSearch struct {
	at    time.Time
	terms []string
	tools map[store.ToolKey]bool // found, and not called since
}

// lesson is a term that led to a tool.
type lesson struct {
	store.ToolKey
	term string
}

// tenantWords is what a tenant's searches taught. All but loaded is guarded by learning.mu.
type tenantWords struct {
	loaded  chan struct{} // closed after the first read
	learned toolsearch.Learned
	rows    int
	readAt  time.Time
	usedAt  time.Time
}

func newLearning(o Options) *learning {
	interval := o.LearnEvery
	if interval == 0 {
		interval = learnInterval
	}
	return &learning{
		store: o.Store, log: o.Log, now: o.Now, interval: interval,
		agentRate:  limit.NewRate[agentKey](lessonsPerHour/time.Hour.Seconds(), lessonsPerHour),
		tenantRate: limit.NewRate[connectors.TenantID](tenantLessons/time.Hour.Seconds(), tenantLessons),
		searches:   map[agentKey]*lastSearch{}, lessons: map[connectors.TenantID]map[lesson]float64{}, tenants: map[connectors.TenantID]*tenantWords{},
	}
}

// learnedKey is a tool in a [toolsearch.Learned].
func learnedKey(k store.ToolKey) string { return k.ConnectorID.String() + " " + k.Tool }

func (t *Tool) storeKey() store.ToolKey {
	return store.ToolKey{ConnectorID: t.Connector.Connector.ID, Tool: t.Name}
}

func (v *View) agentKey() agentKey { return agentKey{v.Tenant.ID, v.Agent.ID} }

// learnsWords reports whether the tenant's searches teach something.
func (v *View) learnsWords() bool { return v.Tenant.CallHistory != connectors.HistoryNone }

// RememberSearch remembers what a search of the agent found, for [View.LearnFromCall].
func (v *View) RememberSearch(words string, found []FoundTool) {
	index := v.search.index.Load()
	if index == nil || !v.learnsWords() {
		return
	}
	l := v.cache.learning
	s := &lastSearch{at: l.now(), terms: index.KnownTerms(words), tools: make(map[store.ToolKey]bool, len(found))}
	for _, t := range found {
		s.tools[t.storeKey()] = true
	}
	l.rememberSearch(v.agentKey(), s)
}

func (l *learning) rememberSearch(agent agentKey, s *lastSearch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.searches) >= maxSearches {
		l.previous, l.searches = l.searches, map[agentKey]*lastSearch{}
	}
	l.searches[agent] = s
}

// LearnFromCall teaches that the words of the agent's last search led to a tool, after a successful call. A search teaches
// once for each tool that it found.
func (v *View) LearnFromCall(t *Tool) {
	if !v.AcceptsLean() || !v.learnsWords() {
		return
	}
	l, now := v.cache.learning, v.cache.learning.now()
	terms := l.claimSearch(v.agentKey(), t.storeKey(), now)
	if len(terms) == 0 {
		return
	}
	wait, undo := l.agentRate.Take(v.agentKey(), now)
	if wait > 0 {
		return
	}
	if wait, _ = l.tenantRate.Take(v.Tenant.ID, now); wait > 0 {
		undo()
		return
	}
	l.addLessons(v.Tenant.ID, t.storeKey(), terms)
}

// claimSearch returns the terms of the agent's last search if it found the tool, once.
func (l *learning) claimSearch(agent agentKey, tool store.ToolKey, now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.searches[agent]
	if s == nil {
		s = l.previous[agent]
	}
	if s == nil || !s.tools[tool] || now.Sub(s.at) >= searchTTL {
		return nil
	}
	delete(s.tools, tool)
	return s.terms
}

func (l *learning) addLessons(tenant connectors.TenantID, tool store.ToolKey, terms []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, term := range terms {
		l.addLesson(tenant, lesson{tool, term}, 1)
	}
	if w := l.tenants[tenant]; w != nil {
		w.learned = toolsearch.Learn(w.learned, terms, learnedKey(tool))
	}
}

// addLesson adds a weight to write. mu is held.
func (l *learning) addLesson(tenant connectors.TenantID, k lesson, weight float64) {
	all := l.lessons[tenant]
	if _, known := all[k]; !known {
		if l.lessonCount >= maxLessons || len(all) >= maxTenantLessons {
			return
		}
		l.lessonCount++
	}
	if all == nil {
		all = map[lesson]float64{}
		l.lessons[tenant] = all
	}
	all[k] += weight
}

// learnedWords returns what the tenant's searches taught, as this process knows it; nil: nothing, or it can't be read.
func (v *View) learnedWords(ctx context.Context) toolsearch.Learned {
	if !v.learnsWords() {
		return nil
	}
	return v.cache.learning.learnedTerms(ctx, v.Tenant.ID)
}
