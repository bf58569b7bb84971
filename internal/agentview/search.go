package agentview

import (
	"context"
	"sync/atomic"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/toolsearch"
)

// toolIndex is the search index of a view. The first search builds it.
type toolIndex struct {
	index atomic.Pointer[toolsearch.Index] // nil: not built
	bytes int64                            // counted by the cache; guarded by Cache.mu

	vectors  atomic.Pointer[toolVectors] // nil: not made
	queuedAt atomic.Int64                // when the vectors were asked for, in Unix nanoseconds; 0: never
}

// Bounds of the indexes that the process builds at once. One of a tenant: two requests don't build the same.
const (
	maxIndexBuilds          = 2
	maxIndexBuildsPerTenant = 1
)

var indexBuilds = limit.NewGate[connectors.TenantID](maxIndexBuildsPerTenant, maxIndexBuilds)

// FoundTool is a listed tool that a search found.
type FoundTool struct {
	*Tool
	Score   float64
	Reasons []toolsearch.Reason
}

// ToolSearch is a search for listed tools.
type ToolSearch struct {
	Words     string
	Connector *ConnectorView // searched alone; nil: all
	Limit     int
}

// FindTools returns the listed tools that match, the best first, without those for apps alone. What the tenant's searches taught counts, and the meaning if
// the operator has an endpoint for embeddings. The first search waits for its turn to build the index, and fails with ctx's cause.
func (v *View) FindTools(ctx context.Context, s ToolSearch) ([]FoundTool, error) {
	index, err := v.searchIndex(ctx)
	if err != nil {
		return nil, err
	}
	similar, wanted := v.similarTools(ctx, s), s.Limit+v.countAppsOnly()
	limit := wanted
	if similar != nil {
		limit = toolsearch.MaxHits
	}
	var hits []toolsearch.Hit
	learned := v.learnedWords(ctx)
	if s.Connector == nil {
		hits = index.Search(s.Words, limit, learned)
	} else {
		hits = index.SearchConnector(s.Connector.Slug, s.Words, limit, learned)
	}
	if similar != nil {
		hits = addMeaning(hits, similar, wanted)
	}
	found := make([]FoundTool, 0, s.Limit)
	for _, hit := range hits {
		if t := v.Tools[hit.Tool]; !t.AppsOnly() && len(found) < s.Limit {
			found = append(found, FoundTool{Tool: t, Score: hit.Score, Reasons: hit.Reasons})
		}
	}
	return found, nil
}

// countAppsOnly counts the listed tools for apps alone.
func (v *View) countAppsOnly() (n int) {
	for _, t := range v.Tools {
		if t.AppsOnly() {
			n++
		}
	}
	return n
}

// searchIndex returns the index, built if need be.
func (v *View) searchIndex(ctx context.Context) (*toolsearch.Index, error) {
	if index := v.search.index.Load(); index != nil {
		return index, nil
	}
	if err := indexBuilds.Acquire(ctx, v.Tenant.ID); err != nil {
		return nil, err
	}
	defer indexBuilds.Release(v.Tenant.ID)
	if index := v.search.index.Load(); index != nil { // built meanwhile
		return index, nil
	}
	index := toolsearch.New(v.indexedTools())
	v.search.index.Store(index)
	v.cache.countIndex(v, int64(index.Bytes()))
	return index, nil
}

func (v *View) indexedTools() []toolsearch.Tool {
	tools := make([]toolsearch.Tool, len(v.Tools))
	for i, t := range v.Tools {
		d := connectors.DecodeTool(t.Raw)
		tools[i] = toolsearch.Tool{
			Name: t.ConnectorName, Key: learnedKey(t.storeKey()), Title: d.DisplayTitle(), Description: d.Description, Tags: t.Tags,
			Connector: t.Connector.Slug, ConnectorName: t.Connector.Connector.Name, Params: toolsearch.ReadParams(t.InputSchema),
		}
	}
	return tools
}

// countIndex adds an index or vectors to the memory of a cached view.
func (c *Cache) countIndex(v *View, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := c.agents[v.Tenant.ID][v.Agent.ID]
	if entry == nil {
		return
	}
	if l := entry.view.Load(); l == nil || l.View != v {
		return // dropped meanwhile, or never cached
	}
	v.search.bytes += bytes
	if c.bytes += bytes; c.bytes > c.maxBytes {
		c.evictViews(entry)
	}
}
