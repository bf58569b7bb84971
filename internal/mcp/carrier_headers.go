package mcp

import (
	"context"
	"maps"
	"net/http"
	"sync"
)

// headers are those of one message. Nobody may write into them: calls of one tool share theirs.
func (c *httpCarrier) headers(ctx context.Context, m outgoing) http.Header {
	parent, state := "", ""
	if c.span != nil {
		parent, state = c.span(ctx)
	}
	e := c.essence(m)
	if m.phase == PhaseCall && parent == "" && len(m.header) == 0 && !m.again {
		return c.usual.headers(e, c.header)
	}
	header := e.headers(c.header)
	if parent != "" {
		tellTrace(header, parent, state)
	}
	maps.Copy(header, m.header)
	if m.again {
		// Not sent, but a word to net/http: where the server closes a kept connection just now, the request goes out on another.
		header["Idempotency-Key"] = nil
	}
	return header
}

// essence is what the headers of most messages differ in.
type essence struct {
	body             bool   // there is one
	version, session string // empty: none
	method, name     string // empty: the headers do not say
}

func (c *httpCarrier) essence(m outgoing) essence {
	e := essence{body: m.body != nil, version: c.speaks(), name: m.name}
	if m.method != initialize {
		e.session = c.session
	}
	if m.tells {
		e.method = m.method
	}
	return e
}

// headers are these and those that all requests have. There are seldom more than eight, which a map holds in one piece.
func (e essence) headers(all http.Header) http.Header {
	header := make(http.Header, len(all)+5)
	maps.Copy(header, all)
	if e.body {
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
		header["Mcp-Name"] = []string{headerValue(e.name)}
	}
	return header
}

// mostUsual bounds the headers that a carrier keeps, of which each takes half a kilobyte.
const mostUsual = 8

// usual are the headers of calls that were made before: the tools of a server that are called by turns are few.
type usual struct {
	mu   sync.Mutex // guards what follows
	sent map[essence]http.Header
}

// headers are kept ones, or new ones in their place.
func (u *usual) headers(e essence, all http.Header) http.Header {
	u.mu.Lock()
	defer u.mu.Unlock()
	header, ok := u.sent[e]
	if ok {
		return header
	}
	if u.sent == nil || len(u.sent) == mostUsual {
		u.sent = map[essence]http.Header{}
	}
	header = e.headers(all)
	u.sent[e] = header
	return header
}
