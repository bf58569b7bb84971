package agentview

import (
	"context"
	"log/slog"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/toolsearch"
)

// learnedTerms returns what a tenant's searches taught. The first search of a tenant reads it; then [learning.runLoop] does.
func (l *learning) learnedTerms(ctx context.Context, tenant connectors.TenantID) toolsearch.Learned {
	w, isNew := l.ensureTenant(tenant)
	if isNew {
		l.readFirst(ctx, tenant, w)
	}
	select {
	case <-w.loaded:
	case <-ctx.Done():
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return w.learned
}

func (l *learning) ensureTenant(tenant connectors.TenantID) (w *tenantWords, isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w = l.tenants[tenant]; w == nil {
		w, isNew = &tenantWords{loaded: make(chan struct{})}, true
		l.tenants[tenant] = w
	}
	w.usedAt = l.now()
	return w, isNew
}

// readFirst reads the words of a tenant. After a failure the next search tries again.
func (l *learning) readFirst(ctx context.Context, tenant connectors.TenantID, w *tenantWords) {
	defer close(w.loaded)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), firstReadTimeout)
	defer cancel()
	if err := safe.Try(safe.View, func() error { return l.readWords(ctx, tenant, w) })(); err != nil {
		l.log.WarnContext(ctx, "learned words not read", slog.Any("tenant_id", tenant), slog.Any("error", err))
		l.dropTenant(tenant, w)
	}
}

// readWords replaces the words of a tenant by the stored ones.
func (l *learning) readWords(ctx context.Context, tenant connectors.TenantID, w *tenantWords) error {
	readAt := l.now()
	rows, err := l.store.Tenant(tenant).Tools().Learned(ctx)
	if err != nil {
		return err
	}
	learned := newLearned(rows)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenants[tenant] != w {
		return nil // dropped meanwhile
	}
	l.rowCount += len(rows) - w.rows
	w.learned, w.rows, w.readAt = l.withLessons(tenant, learned), len(rows), readAt
	l.dropExcess(w)
	return nil
}

// withLessons adds what is not written yet, as the rows lack it. mu is held.
func (l *learning) withLessons(tenant connectors.TenantID, learned toolsearch.Learned) toolsearch.Learned {
	terms := map[store.ToolKey][]string{}
	for k := range l.lessons[tenant] {
		terms[k.ToolKey] = append(terms[k.ToolKey], k.term)
	}
	for tool, terms := range terms {
		learned = toolsearch.Learn(learned, terms, learnedKey(tool))
	}
	return learned
}

// newLearned makes a [toolsearch.Learned] of rows, within its bounds. The heaviest rows come first.
func newLearned(rows []store.LearnedTerm) toolsearch.Learned {
	learned, keys := toolsearch.Learned{}, map[store.ToolKey]string{}
	for _, r := range rows {
		tools := learned[r.Term]
		if tools == nil && len(learned) >= toolsearch.MaxLearnedTerms || len(tools) >= toolsearch.MaxLearnedTools {
			continue
		}
		if tools == nil {
			tools = map[string]float64{}
			learned[r.Term] = tools
		}
		key, known := keys[r.ToolKey]
		if !known {
			key = learnedKey(r.ToolKey)
			keys[r.ToolKey] = key
		}
		tools[key] = r.Weight
	}
	return learned
}

// dropExcess drops the tenants without searches for the longest time, but not kept, until the rows are within their bound. mu
// is held.
func (l *learning) dropExcess(kept *tenantWords) {
	for l.rowCount > maxCachedRows {
		var oldest connectors.TenantID
		var found *tenantWords
		for tenant, w := range l.tenants {
			if w != kept && w.rows > 0 && (found == nil || w.usedAt.Before(found.usedAt)) {
				oldest, found = tenant, w
			}
		}
		if found == nil {
			return
		}
		l.rowCount -= found.rows
		delete(l.tenants, oldest)
	}
}

func (l *learning) dropTenant(tenant connectors.TenantID, w *tenantWords) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenants[tenant] == w {
		l.rowCount -= w.rows
		delete(l.tenants, tenant)
	}
}

// runLoop writes and reads words until ctx ends. Then it writes the rest.
func (l *learning) runLoop(ctx context.Context) {
	tick := time.NewTicker(l.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), learnTimeout)
			defer cancel()
			l.writeLessons(last)
			return
		case <-tick.C:
		}
		l.writeLessons(ctx)
		l.refreshWords(ctx)
	}
}

// writeLessons writes what was learned, one batch for each tenant. What cannot be written is kept for the next time.
func (l *learning) writeLessons(ctx context.Context) {
	for tenant, lessons := range l.takeLessons() {
		terms := make([]store.LearnedTerm, 0, len(lessons))
		for k, weight := range lessons {
			terms = append(terms, store.LearnedTerm{ToolKey: k.ToolKey, Term: k.term, Weight: weight})
		}
		if err := l.writeBatch(ctx, tenant, terms); err != nil {
			l.log.WarnContext(ctx, "learned words not written yet", slog.Any("tenant_id", tenant), slog.Any("error", err))
			l.returnLessons(tenant, lessons)
		}
	}
}

func (l *learning) writeBatch(ctx context.Context, tenant connectors.TenantID, terms []store.LearnedTerm) error {
	ctx, cancel := context.WithTimeout(ctx, learnTimeout)
	defer cancel()
	return l.store.Tenant(tenant).Tools().AddLearned(ctx, terms)
}

func (l *learning) takeLessons() map[connectors.TenantID]map[lesson]float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	lessons := l.lessons
	l.lessons, l.lessonCount = map[connectors.TenantID]map[lesson]float64{}, 0
	return lessons
}

func (l *learning) returnLessons(tenant connectors.TenantID, lessons map[lesson]float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, weight := range lessons {
		l.addLesson(tenant, k, weight)
	}
}

// refreshWords reads again what other processes may have written, and drops tenants without searches.
func (l *learning) refreshWords(ctx context.Context) {
	for tenant, w := range l.dueTenants() {
		if err := l.refreshTenant(ctx, tenant, w); err != nil && ctx.Err() == nil {
			l.log.WarnContext(ctx, "learned words not read", slog.Any("tenant_id", tenant), slog.Any("error", err))
		}
	}
}

func (l *learning) refreshTenant(ctx context.Context, tenant connectors.TenantID, w *tenantWords) error {
	ctx, cancel := context.WithTimeout(ctx, learnTimeout)
	defer cancel()
	return l.readWords(ctx, tenant, w)
}

// dueTenants drops idle tenants, and returns the tenants with words that are to be read again.
func (l *learning) dueTenants() map[connectors.TenantID]*tenantWords {
	l.mu.Lock()
	defer l.mu.Unlock()
	due, now := map[connectors.TenantID]*tenantWords{}, l.now()
	for tenant, w := range l.tenants {
		switch {
		case w.readAt.IsZero(): // its first search reads them
		case now.Sub(w.usedAt) >= idleWords:
			l.rowCount -= w.rows
			delete(l.tenants, tenant)
		case now.Sub(w.readAt) >= min(wordsTTL, 6*l.interval):
			due[tenant] = w
		}
	}
	return due
}
