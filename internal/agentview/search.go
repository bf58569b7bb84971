package agentview

import (
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/toolsearch"
)

// toolIndex is the search index of a view. The first search builds it.
type toolIndex struct {
	once  sync.Once
	index *toolsearch.Index
	bytes int64 // counted by the cache; guarded by Cache.mu
}

// FoundTool is a listed tool that a search found.
type FoundTool struct {
	*Tool
	Score   float64
	Reasons []toolsearch.Reason
}

// FindTools returns the listed tools that match words, at most limit, the best first. learned may be nil.
func (v *View) FindTools(words string, limit int, learned toolsearch.Learned) []FoundTool {
	v.search.once.Do(func() {
		v.search.index = toolsearch.New(v.indexedTools())
		v.cache.countIndex(v, int64(v.search.index.Bytes()))
	})
	if v.search.index == nil { // building it panicked in another request
		return nil
	}
	hits := v.search.index.Search(words, limit, learned)
	found := make([]FoundTool, len(hits))
	for i, hit := range hits {
		found[i] = FoundTool{Tool: v.Tools[hit.Tool], Score: hit.Score, Reasons: hit.Reasons}
	}
	return found
}

func (v *View) indexedTools() []toolsearch.Tool {
	tools := make([]toolsearch.Tool, len(v.Tools))
	for i, t := range v.Tools {
		d := connectors.DecodeTool(t.Raw)
		tools[i] = toolsearch.Tool{
			Name: t.ConnectorName, Title: d.DisplayTitle(), Description: d.Description, Tags: t.Tags,
			Connector: t.Connector.Connector.Slug, ConnectorName: t.Connector.Connector.Name, Params: toolsearch.ReadParams(t.InputSchema),
		}
	}
	return tools
}

// countIndex adds an index to the memory of a cached view.
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
	v.search.bytes = bytes
	if c.bytes += bytes; c.bytes > c.maxBytes {
		c.evictViews(entry)
	}
}
