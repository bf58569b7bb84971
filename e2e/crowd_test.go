//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// silence is the pause after which a session counts as abandoned: its process died between two requests.
// Processes are declared dead later than that, and live ones pause for less.
const silence = 3 * time.Second

// serverPool is several MCP servers for many connectors, each connector with its own path. A list needs a
// permit, so a test decides how long syncs run. It records overlapping syncs of one connector.
type serverPool struct {
	hosts   []string
	permits chan struct{} // each releases one list, except for detained connectors

	mu       sync.Mutex    // guards what follows
	free     chan struct{} // closed to release all lists
	talks    map[string]*poolSession
	overlaps []string
}

// poolSession is the MCP session of one connector.
type poolSession struct {
	open        bool      // begun, and neither ended nor aborted
	inFlight    int       // requests under way
	lastRequest time.Time // end of the last one
	discovered  bool      // by server/discover alone
	detained    bool
	waiting     bool // a list waits for its permit
	lists       int  // lists that were sent
	cuts        int  // requests aborted by the client
}

func newServerPool(t *testing.T, hosts int) *serverPool {
	t.Helper()
	c := &serverPool{permits: make(chan struct{}, 1<<16), free: make(chan struct{}), talks: map[string]*poolSession{}}
	for range hosts {
		server := httptest.NewServer(c)
		c.hosts = append(c.hosts, server.URL)
		t.Cleanup(func() {
			c.releaseAll()
			server.Close()
		})
	}
	return c
}

// releaseAll releases all lists from now on.
func (c *serverPool) releaseAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.free:
	default:
		close(c.free)
	}
}

// holdLists makes lists wait again.
func (c *serverPool) holdLists() {
	c.releaseAll()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = make(chan struct{})
	for _, t := range c.talks {
		t.detained = false
	}
}

// url is the address of a connector's server.
func (c *serverPool) url(i int, name string) string { return c.hosts[i%len(c.hosts)] + "/" + name }

// detainConnector makes the connector's lists wait until releaseAll.
func (c *serverPool) detainConnector(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findSession(name).detained = true
}

// releaseLists releases n more lists.
func (c *serverPool) releaseLists(n int) {
	for range n {
		c.permits <- struct{}{}
	}
}

// waitingConnectors are the connectors with a list that waits for its permit.
func (c *serverPool) waitingConnectors(names []string) []string {
	return c.which(names, func(t *poolSession) bool { return t.waiting })
}

// cutConnectors are those with an aborted request.
func (c *serverPool) cutConnectors(names []string) []string {
	return c.which(names, func(t *poolSession) bool { return t.cuts > 0 })
}

// unlistedConnectors are those without a sent list.
func (c *serverPool) unlistedConnectors(names []string) []string {
	return c.which(names, func(t *poolSession) bool { return t.lists == 0 })
}

func (c *serverPool) which(names []string, is func(*poolSession) bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []string
	for _, name := range names {
		if is(c.findSession(name)) {
			found = append(found, name)
		}
	}
	return found
}

// countLists is the number of sent lists.
func (c *serverPool) countLists() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, t := range c.talks {
		n += t.lists
	}
	return n
}

// overlapping lists the connectors with two syncs at once, once per overlap.
func (c *serverPool) overlapping() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.overlaps)
}

// findSession returns a connector's session. The caller holds the lock.
func (c *serverPool) findSession(name string) *poolSession {
	t := c.talks[name]
	if t == nil {
		t = &poolSession{}
		c.talks[name] = t
	}
	return t
}

// beginRequest records a request. A second session, or a request during another, means a second sync.
func (c *serverPool) beginRequest(name, method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.findSession(name)
	opens := method == "server/discover" || method == "initialize" && !t.discovered
	goesOn := t.open && time.Since(t.lastRequest) < silence
	if t.inFlight > 0 || opens && goesOn {
		c.overlaps = append(c.overlaps, fmt.Sprintf("%s: %s while another sync is under way", name, method))
	}
	t.inFlight++
	t.discovered = method == "server/discover"
	t.open = t.open || opens
}

// endRequest records the end of a request; gone: the client did not wait for the response.
func (c *serverPool) endRequest(name string, last, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.findSession(name)
	t.inFlight--
	t.lastRequest = time.Now()
	switch {
	case gone:
		t.cuts++
		t.open = false
	case last:
		t.lists++
		t.open = false
	}
}

// ServeHTTP responds as a small MCP server.
func (c *serverPool) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	body, _ := io.ReadAll(r.Body)
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &call)
	c.beginRequest(name, call.Method)
	last := call.Method == "tools/list"
	if last && !c.waitForPermit(name, r) {
		c.endRequest(name, last, true)
		return
	}
	defer c.endRequest(name, last, false)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case call.Method == "server/discover":
		w.WriteHeader(http.StatusBadRequest)
	case call.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, poolResult(call.Method))
	}
}

func poolResult(method string) string {
	switch method {
	case "initialize":
		return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"crowd","version":"1"}}`
	case "tools/list":
		return `{"tools":[{"name":"one","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}}]}`
	}
	return `{}`
}

// waitForPermit waits until a list may be sent. It is false if the client is gone.
func (c *serverPool) waitForPermit(name string, r *http.Request) bool {
	leaves, free := c.holdList(name)
	defer c.unhold(name)
	select {
	case <-leaves:
		return true
	case <-free:
		return true
	case <-r.Context().Done():
		return false
	}
}

// holdList makes a connector's list wait for its permit; a detained one gets none.
func (c *serverPool) holdList(name string) (leaves, free <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.findSession(name)
	t.waiting = true
	if t.detained {
		return nil, c.free
	}
	return c.permits, c.free
}

func (c *serverPool) unhold(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findSession(name).waiting = false
}
