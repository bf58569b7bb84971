//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// between stands before a server and hears in which revision of MCP its clients ask for tools, and get an answer.
type between struct {
	*httptest.Server
	env []string // what the server behind it is told

	mu    sync.Mutex
	heard map[string]int
}

func newBetween(t *testing.T) *between {
	t.Helper()
	behind := "127.0.0.1:" + strconv.Itoa(freePort(t))
	b := &between{heard: map[string]int{}}
	b.Server = httptest.NewServer(&httputil.ReverseProxy{
		Transport:     localTransport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: behind})
			r.Out.Host = r.In.Host
			r.Out.Header.Del("Accept-Encoding")
			hear(r)
		},
		ModifyResponse: b.note,
	})
	t.Cleanup(b.Close)
	b.env = []string{"PATCHBAY_ADDR=" + behind, "PATCHBAY_BASE_URL=" + b.URL}
	return b
}

// askedFor is where the method of a message stands until it is answered. It goes to the server, too, which knows nothing of it.
const askedFor = "X-Asked-For"

func hear(r *httputil.ProxyRequest) {
	r.Out.Header.Del(askedFor)
	if r.In.Method != http.MethodPost || r.In.URL.Path != "/mcp" {
		return
	}
	body, err := io.ReadAll(r.In.Body)
	if err != nil {
		return
	}
	r.Out.Body = io.NopCloser(bytes.NewReader(body))
	var message struct{ Method string }
	if json.Unmarshal(body, &message) == nil && strings.HasPrefix(message.Method, "tools/") {
		r.Out.Header.Set(askedFor, message.Method)
	}
}

func (b *between) note(res *http.Response) error {
	asked := res.Request.Header.Get(askedFor)
	if asked == "" || res.StatusCode != http.StatusOK {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard[asked+" in "+res.Request.Header.Get("MCP-Protocol-Version")]++
	return nil
}

// since is what was heard since it was asked last, in order.
func (b *between) since() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	heard := slices.Sorted(maps.Keys(b.heard))
	clear(b.heard)
	return heard
}
