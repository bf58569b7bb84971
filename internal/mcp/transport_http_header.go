package mcp

import (
	"context"
	"maps"
	"net/http"
	"sync"
)

// buildHeader returns the headers of one message. They must not be modified: calls of one tool share them.
func (c *httpTransport) buildHeader(ctx context.Context, m outgoingMessage) http.Header {
	parent, state := "", ""
	if c.traceContext != nil {
		parent, state = c.traceContext(ctx)
	}
	e := c.newHeaderKey(m)
	if m.phase == PhaseCall && parent == "" && len(m.header) == 0 && !m.idempotent {
		return c.headerCache.get(e, c.header)
	}
	header := e.buildHeader(c.header)
	if parent != "" {
		setTraceHeaders(header, parent, state)
	}
	maps.Copy(header, m.header)
	if m.idempotent {
		// A nil value is not sent. It lets net/http retry on a new connection if the server closes a kept-alive
		// one.
		header["Idempotency-Key"] = nil
	}
	return header
}

// headerKey is the part in which the headers of most messages differ.
type headerKey struct {
	hasBody          bool
	version, session string // empty: none
	method, name     string // empty: not sent
}

func (c *httpTransport) newHeaderKey(m outgoingMessage) headerKey {
	e := headerKey{hasBody: m.body != nil, version: c.agreedVersion(), name: m.name}
	if m.method != methodInitialize {
		e.session = c.sessionID
	}
	if m.hasMethodHeader {
		e.method = m.method
	}
	return e
}

// buildHeader adds these headers to all. A map of up to eight is one allocation.
func (e headerKey) buildHeader(all http.Header) http.Header {
	header := make(http.Header, len(all)+5)
	maps.Copy(header, all)
	if e.hasBody {
		header["Content-Type"] = []string{"application/json"}
	}
	if e.version != "" {
		header["Mcp-Protocol-Version"] = []string{e.version}
	}
	if e.session != "" {
		header["Mcp-Session-Id"] = []string{e.session}
	}
	if e.method != "" {
		header["Mcp-Method"] = []string{e.method}
	}
	if e.name != "" {
		header["Mcp-Name"] = []string{encodeHeaderValue(e.name)}
	}
	return header
}

// maxCachedHeaders bounds the cache of one transport; an entry is about 500 bytes.
const maxCachedHeaders = 8

// headerCache caches the headers of earlier calls, because few tools of a server are used at a time.
type headerCache struct {
	mu      sync.Mutex // guards the fields below
	entries map[headerKey]http.Header
}

func (c *headerCache) get(key headerKey, all http.Header) http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	header, ok := c.entries[key]
	if ok {
		return header
	}
	if c.entries == nil || len(c.entries) == maxCachedHeaders {
		c.entries = map[headerKey]http.Header{}
	}
	header = key.buildHeader(all)
	c.entries[key] = header
	return header
}
