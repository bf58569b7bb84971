package apitools

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/openapi"
)

// maxCacheBytes bounds the definitions of all tools in a cache.
const maxCacheBytes = 64 << 20

// Cache has the tools of APIs, by document and picked operations. It is safe for concurrent use. A nil one is always empty.
type Cache struct {
	mu    sync.Mutex
	byAPI map[connectors.ConnectorID]cachedTools
	bytes int
}

// cachedTools are the tools of one API. They are not changed.
type cachedTools struct {
	key   cacheKey
	tools []openapi.Tool
	bytes int
}

// cacheKey is a hash of all that tools are made from.
type cacheKey [sha256.Size]byte

func newCacheKey(document [32]byte, at Addresses, picked []connectors.APITool) (key cacheKey) {
	text, _ := json.Marshal(picked) // plain values
	hash := sha256.New()
	hash.Write(document[:])
	hash.Write([]byte(at.Document + "\n" + at.Server + "\n"))
	hash.Write(text)
	copy(key[:], hash.Sum(nil))
	return key
}

func (c *Cache) findTools(id connectors.ConnectorID, key cacheKey) ([]openapi.Tool, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.byAPI[id]
	return found.tools, ok && found.key == key
}

// addTools replaces the tools of an API, and returns those that it keeps: copies. Any others leave where the cache is full.
func (c *Cache) addTools(id connectors.ConnectorID, key cacheKey, tools []openapi.Tool) []openapi.Tool {
	if c == nil {
		return tools
	}
	added := cachedTools{key: key, tools: make([]openapi.Tool, len(tools))}
	for i, tool := range tools {
		binding, err := openapi.ReadBinding(tool.Binding.JSON()) // a copy: texts of the tool's own would keep the whole document
		if err != nil {
			return tools
		}
		tool.Name, tool.Binding = strings.Clone(tool.Name), binding
		added.tools[i] = tool
		added.bytes += 2 * len(tool.Definition) // with the binding
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removeTools(id)
	for other := range c.byAPI {
		if c.bytes+added.bytes <= maxCacheBytes {
			break
		}
		c.removeTools(other)
	}
	if added.bytes > maxCacheBytes {
		return tools
	}
	if c.byAPI == nil {
		c.byAPI = map[connectors.ConnectorID]cachedTools{}
	}
	c.byAPI[id] = added
	c.bytes += added.bytes
	return added.tools
}

// removeTools removes the tools of an API. c.mu is held.
func (c *Cache) removeTools(id connectors.ConnectorID) {
	c.bytes -= c.byAPI[id].bytes
	delete(c.byAPI, id)
}
