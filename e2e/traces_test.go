//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The trace and the span that an agent has before it calls.
const (
	agentTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	agentSpan   = "00f067aa0ba902b7"
	agentParent = "00-" + agentTrace + "-" + agentSpan + "-01"
)

// watched is an MCP server of which is known what it was told of traces.
type watched struct {
	url string

	mu   sync.Mutex
	told []http.Header
}

func newWatched(t *testing.T, upstream string) *watched {
	t.Helper()
	to, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{}
	hand := &httputil.ReverseProxy{Transport: localTransport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.told = append(w.told, r.Header.Clone())
		w.mu.Unlock()
		hand.ServeHTTP(res, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// since are the headers of the requests after the first n.
func (w *watched) since(n int) []http.Header {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told[n:])
}

// parents are the traceparent headers of all requests so far.
func (w *watched) parents() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.told {
		all = append(all, h.Get("Traceparent"))
	}
	return all
}

func TestTraces_CallAndSyncAreOneTraceEach(t *testing.T) {
	t.Parallel()
	c := newTraceCollector(t)
	h := newHome(t, c.env()...)
	server := newWatched(t, h.devMCP())
	s := h.serve()
	api := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	api.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Tools", "url": server.url + "/mcp?key=sekret-in-a-query"})
	api.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)

	synced := c.named("", "sync tools")
	c.chain(synced.trace, "POST /connectors/{id}/sync_tools", "sync tools", "handshake", "POST")
	c.chain(synced.trace, "sync tools", "tools/list", "POST")
	c.chain(synced.trace, "sync tools", "store", "FinishRun")
	if synced.said["patchbay.connector"] != "tools" || synced.said["patchbay.sync.trigger"] != "api" || synced.service != "patchbay" {
		t.Errorf("the sync says %v", synced.said)
	}
	for _, told := range server.parents() {
		if told != "" && !strings.HasPrefix(told, "00-"+synced.trace+"-") {
			t.Errorf("the server was told %q, while the sync is %s", told, synced.trace)
		}
	}

	agent, before := api.hire("helper", "tools"), len(server.parents())
	message, header := modern("tools/call", `"name":"mcp_tools__search_issues","arguments":{"query":"x"}`)
	status, _, r := agent.send("/mcp", message, append(header, "Traceparent", agentParent, "Tracestate", "vendor=1", "Baggage", "user=alice")...)
	if status != http.StatusOK || r.Error != nil {
		t.Fatalf("the call is answered %d: %v", status, r.Error)
	}
	c.chain(agentTrace, "POST /mcp", "tools/call mcp_tools__search_issues", "policy")
	asked := c.chain(agentTrace, "POST /mcp", "tools/call mcp_tools__search_issues", "tools/call search_issues")
	c.chain(agentTrace, "tools/call search_issues", "POST")
	door := c.named(agentTrace, "POST /mcp")
	if door.parent != agentSpan || door.kind != "SERVER" || asked.kind != "CLIENT" {
		t.Errorf("the request is a %s of %s, and the call a %s", door.kind, door.parent, asked.kind)
	}
	call := c.named(agentTrace, "tools/call mcp_tools__search_issues")
	for key, want := range map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": "mcp_tools__search_issues", "gen_ai.operation.name": "execute_tool", "gen_ai.agent.name": "helper",
		"patchbay.connector": "tools", "patchbay.outcome": "ok",
	} {
		if call.said[key] != want {
			t.Errorf("the call says %q of %s, want %q", call.said[key], key, want)
		}
	}
	told := server.since(before)
	asCall := slices.IndexFunc(told, func(h http.Header) bool { return h.Get("Traceparent") == "00-"+agentTrace+"-"+asked.id+"-01" })
	if asCall < 0 || told[asCall].Get("Tracestate") != "vendor=1" || told[asCall].Get("Baggage") != "" {
		t.Errorf("the server was told %v, while the call to it is %s", told, asked.id)
	}
	for _, span := range c.all() {
		if span.trace != agentTrace && strings.HasPrefix(span.name, "tools/call") {
			t.Errorf("%s is in a trace of its own", span.name)
		}
		if span.note != "" {
			t.Errorf("%s says %s", span.name, span.note)
		}
	}
}

// By SEP-414 an agent may say it in the request itself; there is no header then, and the HTTP request is a trace of its own.
func TestATraceThatARequestItselfNamesIsGoneOnWith(t *testing.T) {
	t.Parallel()
	c := newTraceCollector(t)
	h := newHome(t, c.env()...)
	upstream := h.devMCP()
	s := h.serve()
	api := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	api.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Tools", "url": upstream + "/mcp"})
	api.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	agent := api.hire("helper", "tools")
	message, header := modern("tools/call", `"name":"mcp_tools__search_issues","arguments":{"query":"x"}`)
	message = strings.Replace(message, `"_meta":{`, `"_meta":{"traceparent":"`+agentParent+`",`, 1)
	if status, _, r := agent.send("/mcp", message, header...); status != http.StatusOK || r.Error != nil {
		t.Fatalf("the call is answered %d: %v", status, r.Error)
	}
	call := c.chain(agentTrace, "tools/call mcp_tools__search_issues")
	c.chain(agentTrace, "tools/call mcp_tools__search_issues", "tools/call search_issues", "POST")
	door := c.named("", "POST /mcp")
	if call.parent != agentSpan || len(call.links) != 1 || call.links[0] != door.trace || door.trace == agentTrace {
		t.Errorf("the call is a part of %s, and is linked to %v; the HTTP request is of %s", call.parent, call.links, door.trace)
	}
}

func TestTraces_ConnectIsOneTracePerRequest(t *testing.T) {
	t.Parallel()
	needPeers(t)
	c := newTraceCollector(t)
	w := newConnecting(t, c.env()...)
	w.connector("/mcp")
	w.as.live(4)
	w.connect("", "ann@example.com")

	started := c.named("", "oauth registration")
	c.chain(started.trace, "POST /connect/{token}", "oauth discovery", "GET")
	c.chain(started.trace, "POST /connect/{token}", "oauth registration", "POST")
	back := c.named("", "oauth callback")
	c.chain(back.trace, "GET /oauth/callback", "oauth callback", "oauth token exchange", "POST")
	c.chain(back.trace, "GET /oauth/callback", "job sync_tools")
	c.chain(back.trace, "GET /oauth/callback", "tools/list") // by the job or by the waiting page, whichever is first
	if job := c.named(back.trace, "job sync_tools"); job.kind != "CONSUMER" {
		t.Errorf("the job is a %s", job.kind)
	}
	w.expired("")
	w.sync()
	renewed := c.named("", "oauth refresh")
	c.chain(renewed.trace, "POST /connectors/{id}/sync_tools", "sync notes", "credential", "oauth refresh", "POST")
}

// The sweep plants a secret at every place that a request has, and looks for them in all that the collector got.
func TestNoSecretIsInTheTraces(t *testing.T) {
	t.Parallel()
	needPeers(t)
	c := newTraceCollector(t)
	w := newConnecting(t, c.env()...)
	dev := w.devMCP()
	w.connector("/mcp")
	link := w.link("")
	w.connect("", "ann@example.com")
	w.c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
		"name": "Keyed", "url": dev + "/bearer?key=sekret-in-a-query-1", "auth": object{"type": "bearer", "token": "dev-token"},
		"headers": object{"X-Extra": "sekret-in-a-header-2"},
	})
	w.c.must(http.StatusOK, http.MethodPost, "/connectors/keyed/sync_tools", nil)
	w.c.call(http.MethodGet, "/api/v1/connectors?cursor=sekret-in-our-query-3", nil)
	w.c.call(http.MethodGet, "/api/v1/connectors/sekret-in-our-path-4", nil)
	w.c.call(http.MethodGet, "/sekret-in-no-path-5", nil)
	w.c.call("SEKRETMETHOD6", "/api/v1/connectors", nil)
	agent := w.c.hire("helper", "keyed")
	for _, params := range []string{
		`"name":"mcp_keyed__create_issue","arguments":{"title":"sekret-in-an-argument-7"}`,
		`"name":"mcp_keyed__create_issue","arguments":{"title":7,"sekret-in-a-name-8":1}`,
		`"name":"sekret-in-a-tool-9","arguments":{}`,
	} {
		message, header := modern("tools/call", params)
		agent.send("/mcp", message, header...)
	}
	message, header := modern("sekret/method/10", "")
	agent.send("/mcp", message, append(header, "X-Other", "sekret-in-a-header-11")...)
	bad := agent
	bad.token = "pb_agent_sekret-in-a-token-12"
	message, header = modern("tools/list", "")
	bad.send("/mcp", message, append(header, "Tracestate", "vendor=sekret-in-a-state-13")...)
	p := newPerson(t)
	p.get(w.s.base + "/setup?token=sekret-setup-token-14")
	p.get(w.s.base + "/oauth/callback?code=sekret-code-15&state=sekret-state-16")
	p.post(w.s.base+"/login", url.Values{"email": {"sekret-17@example.com"}, "password": {"sekret-password-18"}})
	c.named("", "POST /login")
	c.find("the call", func(s sentSpan) bool { return s.said["patchbay.outcome"] == "ok" })
	c.find("the refused call", func(s sentSpan) bool { return s.said["error.type"] == "invalid_arguments" })
	w.s.terminate() // what is left is sent

	places := map[string]string{"the traces": c.body()}
	if strings.Contains(c.body(), "sekret") || strings.Contains(c.body(), "SEKRET") {
		all, _ := json.MarshalIndent(c.sekret(), "", " ")
		t.Errorf("the traces hold a planted secret: %s", all)
	}
	for kind, values := range w.as.issued() {
		for _, value := range values {
			lookFor(t, value, kind, places)
		}
	}
	for what, value := range map[string]string{"the API key": w.c.key, "the agent's token": agent.token, "the link": link[strings.LastIndex(link, "/")+1:]} {
		lookFor(t, value, what, places)
	}
	if len(c.all()) < 100 {
		t.Errorf("%d spans only: the sweep shows little", len(c.all()))
	}
}

// sekret are spans with data that they must not have.
func (c *traceCollector) sekret() (found []string) {
	for _, s := range c.all() {
		if line := shownSpans([]sentSpan{s}); strings.Contains(strings.ToLower(line), "sekret") {
			found = append(found, line)
		}
	}
	return found
}

// Nothing listens at the collector's address.
func TestACollectorThatIsDownLosesSpansAndNoCall(t *testing.T) {
	t.Parallel()
	h, s, api, _ := synced(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_BSP_SCHEDULE_DELAY=20", "PATCHBAY_LOG_FORMAT=json", "PATCHBAY_PRIVATE_ADDR=127.0.0.1:0")
	agent := api.hire("helper", "tools")
	message, header := modern("tools/call", `"name":"mcp_tools__search_issues","arguments":{"query":"x"}`)
	for range 50 {
		if status, _, r := agent.send("/mcp", message, header...); status != http.StatusOK || r.Error != nil {
			t.Fatalf("a call is answered %d: %v", status, r.Error)
		}
	}
	said, ok := s.stderr.wait(`"traces are lost"`, s.exited)
	if !ok || !strings.Contains(said, "no connection") {
		t.Errorf("the log says %s", said)
	}
	if n := strings.Count(s.stderr.text(), `"traces are lost"`); n != 1 {
		t.Errorf("it is said %d times", n)
	}
	_ = h
}

func TestASettingOfTracesThatNobodyWouldReadIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t, "OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318")
	if got := h.try("serve"); got.code == 0 || !strings.Contains(got.stderr, "OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address") {
		t.Errorf("it ends with %d: %s", got.code, got.stderr)
	}
}
