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

// silence is after how long a conversation counts as given up in which nothing is asked: its process died between two requests. A
// process that dies is taken for dead later than that, and one that lives pauses for less.
const silence = 3 * time.Second

// crowd is several MCP servers of many connectors, each connector at a path of its own. A list is answered when there is a leave for it:
// so syncs are under way for as long as a test wants. It watches who speaks: two syncs of one connector at the same time are on record.
type crowd struct {
	hosts  []string
	leaves chan struct{} // each lets one list pass, but for those that are detained

	mu       sync.Mutex    // guards what follows
	free     chan struct{} // closed when all may pass
	talks    map[string]*talk
	overlaps []string
}

// talk is the conversation with one connector.
type talk struct {
	open     bool      // begun, and neither ended nor cut off
	asking   int       // requests under way
	heard    time.Time // when the last one ended
	greeted  bool      // by server/discover alone
	detained bool
	held     bool // a list waits for its leave
	lists    int  // that were answered
	cuts     int  // requests that nobody waits for any more
}

func newCrowd(t *testing.T, hosts int) *crowd {
	t.Helper()
	c := &crowd{leaves: make(chan struct{}, 1<<16), free: make(chan struct{}), talks: map[string]*talk{}}
	for range hosts {
		server := httptest.NewServer(c)
		c.hosts = append(c.hosts, server.URL)
		t.Cleanup(func() {
			c.goOn()
			server.Close()
		})
	}
	return c
}

// goOn lets all lists pass, from now on.
func (c *crowd) goOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.free:
	default:
		close(c.free)
	}
}

// holdAgain has lists wait as at the beginning.
func (c *crowd) holdAgain() {
	c.goOn()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = make(chan struct{})
	for _, t := range c.talks {
		t.detained = false
	}
}

// url is the address of a connector's server.
func (c *crowd) url(i int, name string) string { return c.hosts[i%len(c.hosts)] + "/" + name }

// detain has the connector's lists wait until all may pass.
func (c *crowd) detain(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.talk(name).detained = true
}

// let lets n more lists pass.
func (c *crowd) let(n int) {
	for range n {
		c.leaves <- struct{}{}
	}
}

// held are those of the connectors whose list waits for its leave.
func (c *crowd) held(names []string) []string {
	return c.which(names, func(t *talk) bool { return t.held })
}

// cut are those that a request was given up of.
func (c *crowd) cut(names []string) []string {
	return c.which(names, func(t *talk) bool { return t.cuts > 0 })
}

// unlisted are those that nobody has got a list of.
func (c *crowd) unlisted(names []string) []string {
	return c.which(names, func(t *talk) bool { return t.lists == 0 })
}

func (c *crowd) which(names []string, is func(*talk) bool) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []string
	for _, name := range names {
		if is(c.talk(name)) {
			found = append(found, name)
		}
	}
	return found
}

// listed is how many lists were answered in all.
func (c *crowd) listed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, t := range c.talks {
		n += t.lists
	}
	return n
}

// twice are the connectors that were synced by two at the same time, once for each time.
func (c *crowd) twice() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.overlaps)
}

// talk is that of a connector. The caller has the lock.
func (c *crowd) talk(name string) *talk {
	t := c.talks[name]
	if t == nil {
		t = &talk{}
		c.talks[name] = t
	}
	return t
}

// begin notes a request. What opens a conversation while another one is open, or asks while another asks, is a second sync.
func (c *crowd) begin(name, method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.talk(name)
	opens := method == "server/discover" || method == "initialize" && !t.greeted
	goesOn := t.open && time.Since(t.heard) < silence
	if t.asking > 0 || opens && goesOn {
		c.overlaps = append(c.overlaps, fmt.Sprintf("%s: %s while another sync is under way", name, method))
	}
	t.asking++
	t.greeted = method == "server/discover"
	t.open = t.open || opens
}

// end notes the end of a request; gone: whoever asked did not wait for the answer.
func (c *crowd) end(name string, last, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.talk(name)
	t.asking--
	t.heard = time.Now()
	switch {
	case gone:
		t.cuts++
		t.open = false
	case last:
		t.lists++
		t.open = false
	}
}

// ServeHTTP answers as a small MCP server.
func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	body, _ := io.ReadAll(r.Body)
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &call)
	c.begin(name, call.Method)
	last := call.Method == "tools/list"
	if last && !c.mayPass(name, r) {
		c.end(name, last, true)
		return
	}
	defer c.end(name, last, false)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case call.Method == "server/discover":
		w.WriteHeader(http.StatusBadRequest)
	case call.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, crowdResult(call.Method))
	}
}

func crowdResult(method string) string {
	switch method {
	case "initialize":
		return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"crowd","version":"1"}}`
	case "tools/list":
		return `{"tools":[{"name":"one","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}}]}`
	}
	return `{}`
}

// mayPass waits until a list may be answered. It is false where whoever asked has gone.
func (c *crowd) mayPass(name string, r *http.Request) bool {
	leaves, free := c.hold(name)
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

// hold has a connector wait, and says for what; a detained one gets no leave.
func (c *crowd) hold(name string) (leaves, free <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.talk(name)
	t.held = true
	if t.detained {
		return nil, c.free
	}
	return c.leaves, c.free
}

func (c *crowd) unhold(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.talk(name).held = false
}
