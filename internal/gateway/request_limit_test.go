package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/gateway"
)

// limitedGateway is a gateway with a rate limit and a stopped clock. Each request names its client address.
type limitedGateway struct {
	*testEnv
	at        string
	ahead     atomic.Int64 // nanoseconds
	throttled atomic.Int64
}

func newLimitedGateway(t *testing.T, rate int) *limitedGateway {
	t.Helper()
	p, began := &limitedGateway{testEnv: newTestEnv(t)}, time.Now()
	var handler *gateway.Handler
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	closeAtEnd(t, front)
	base, err := url.Parse(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.at = front.URL + "/mcp"
	handler = gateway.New(gateway.Options{
		Store: p.St, Access: p.access, Caller: p.caller, BaseURL: base, Version: "test", AccountPageURL: p.page, Rate: rate,
		Now:         func() time.Time { return began.Add(time.Duration(p.ahead.Load())) },
		Address:     func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("From")) },
		OnThrottled: func() { p.throttled.Add(1) },
	})
	t.Cleanup(handler.CloseStreams)
	return p
}

// listTools lists tools and returns the response.
func (p *limitedGateway) listTools(t *testing.T, token, from string) answer {
	t.Helper()
	return post(t, p.at, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`, "Authorization", token, "From", from)
}

// countPassed returns how many of the requests were accepted.
func (p *limitedGateway) countPassed(t *testing.T, token, from string, asked int) int {
	t.Helper()
	passed := 0
	for range asked {
		switch got := p.listTools(t, token, from); got.status {
		case http.StatusOK:
			passed++
		case http.StatusTooManyRequests:
		default:
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	return passed
}

func TestRateLimit_SetsRetryAfter(t *testing.T) {
	t.Parallel()
	p := newLimitedGateway(t, 2)
	one, other := bearerHeader(p.Token(t, p.newAutoAgent(t).ID)), bearerHeader(p.Token(t, p.newAutoAgent(t).ID))
	const from = "192.0.2.1"
	for _, method := range []string{"tools/list", "resources/list", "prompts/list", "resources/templates/list", "server/discover", "no/such", "tools/list", "prompts/list"} { // a full bucket
		got := post(t, p.at, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+modernMeta+`}}`, "Authorization", one, "From", from)
		if got.status == http.StatusTooManyRequests {
			t.Fatalf("%s: %s", method, got.body)
		}
	}
	for method, body := range map[string]string{http.MethodPost: `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`, http.MethodGet: "", http.MethodDelete: ""} {
		got := request(t, method, p.at, body, "Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Authorization", one, "From", from)
		var said struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Error   struct {
				Code    int
				Message string
				Data    json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(got.body), &said); err != nil || got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" {
			t.Fatalf("%s: %d %v %s", method, got.status, got.header, got.body)
		}
		want := `-32000 Too many requests from this agent. Try again in 1 s. {"patchbay/reason":{"code":"rate_limited","retry_after_s":1}}`
		if diff := cmp.Diff(want, fmt.Sprint(said.Error.Code, " ", said.Error.Message, " ", string(said.Error.Data))); diff != "" || said.JSONRPC != "2.0" {
			t.Errorf("%s (-want +got):\n%s", method, diff)
		}
	}
	if n := p.throttled.Load(); n != 3 {
		t.Errorf("%d are counted as refused", n)
	}
	if n := p.countPassed(t, other, from, 1); n != 1 {
		t.Error("another agent is refused, too")
	}
	p.ahead.Add(int64(time.Second))
	if n := p.countPassed(t, one, from, 5); n != 2 {
		t.Errorf("%d pass a second later, want 2", n)
	}
}

func TestRateLimit_AddressIsSharedByTenant(t *testing.T) {
	t.Parallel()
	p := newLimitedGateway(t, 1)
	var agents []string
	for range 9 {
		agents = append(agents, bearerHeader(p.Token(t, p.newAutoAgent(t).ID)))
	}
	for i, token := range agents {
		want := 4
		if i == 8 { // the address's bucket is empty
			want = 0
		}
		if n := p.countPassed(t, token, "2001:db8::1", 5); n != want {
			t.Errorf("agent %d: %d pass, want %d", i, n, want)
		}
	}
	if n := p.countPassed(t, agents[8], "2001:db8::2", 1); n != 0 {
		t.Error("the same network is another address")
	}
	if n := p.countPassed(t, agents[8], "2001:db8:1::1", 5); n != 4 {
		t.Errorf("from elsewhere %d pass, want 4", n)
	}
	theirs, _ := p.TokenIn(t, p.Other, p.AgentIn(t, p.Other).ID)
	if n := p.countPassed(t, bearerHeader(theirs), "2001:db8::1", 5); n != 4 {
		t.Errorf("of another tenant %d pass, want 4", n)
	}
}

// openSession initializes a legacy session and returns the headers for its batches.
func (p *limitedGateway) openSession(t *testing.T, version, token, from string) (header []string) {
	t.Helper()
	header = []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Authorization", token, "From", from}
	got := request(t, http.MethodPost, p.at, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, header...)
	id := got.header.Get("Mcp-Session-Id")
	if got.status != http.StatusOK || id == "" {
		t.Fatalf("initialize: %d %s", got.status, got.body)
	}
	return append(header, "Mcp-Session-Id", id)
}

// batchOf returns n pings in one request.
func batchOf(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"tools/list"},`, n), ",") + "]"
}

func TestRateLimit_CountsBatchMessages(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-03-26", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newLimitedGateway(t, 2)
			token := bearerHeader(p.Token(t, p.newAutoAgent(t, func(a *connectors.Agent) { a.CallsPerMinute = 1 }).ID))
			const from = "192.0.2.1"
			header := p.openSession(t, version, token, from) // takes 1 of 8
			send := func(n int) answer { return request(t, http.MethodPost, p.at, batchOf(n), header...) }
			if got := send(100); got.status != http.StatusOK || strings.Count(got.body, `"result"`) != 100 {
				t.Fatalf("the first: %d %s", got.status, got.body)
			}
			got := send(100) // the bucket is at -93 and must reach 1
			if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "47" || strings.Contains(got.body, `"result"`) {
				t.Fatalf("the second: %d %v %s", got.status, got.header, got.body)
			}
			p.ahead.Add(int64(46 * time.Second))
			if n := p.countPassed(t, token, from, 1); n != 0 {
				t.Error("what the batch took is forgotten too early")
			}
			p.ahead.Add(int64(5 * time.Second))
			if got := send(9); got.status != http.StatusOK {
				t.Errorf("after a pause: %d %s", got.status, got.body)
			}
		})
	}
}

// Requests that arrive with a batch may pass before the batch is counted. Their own batches may not.
func TestRateLimit_RefusesBatchWhileInDebt(t *testing.T) {
	t.Parallel()
	wait, charge := gateway.Pace(2)
	tenant, agent, from, now := connectors.TenantID{UUID: uuid.New()}, &connectors.Agent{ID: connectors.AgentID{UUID: uuid.New()}, CallsPerMinute: 1}, netip.MustParseAddr("192.0.2.1"), time.Now()
	for range 2 {
		if w := wait(tenant, agent, from, now); w > 0 {
			t.Fatalf("it waits %s", w)
		}
	}
	if w := charge(tenant, agent, from, now, 99); w > 0 {
		t.Errorf("the first waits %s", w)
	}
	if w := charge(tenant, agent, from, now, 99); w != 47*time.Second {
		t.Errorf("the second waits %s", w)
	}
	if w := wait(tenant, agent, from, now.Add(47*time.Second)); w > 0 {
		t.Errorf("what was refused is owed: %s more", w)
	}
}

func TestRateLimit_FollowsAgentCallLimit(t *testing.T) {
	t.Parallel()
	p := newLimitedGateway(t, 1)
	busy := bearerHeader(p.Token(t, p.newAutoAgent(t, func(a *connectors.Agent) { a.CallsPerMinute = 180 }).ID)) // 3 calls and so 6 requests per second
	if n := p.countPassed(t, busy, "192.0.2.1", 30); n != 24 {
		t.Errorf("%d pass, want 24", n)
	}
	if n := p.countPassed(t, bearerHeader(p.Token(t, p.newAutoAgent(t).ID)), "192.0.2.1", 5); n != 4 {
		t.Errorf("beside it %d pass, want 4", n)
	}
}

func TestRateLimit_AdminCannotRaiseTenantShare(t *testing.T) {
	t.Parallel()
	p := newLimitedGateway(t, 1)
	without := func(a *connectors.Agent) { a.CallsPerMinute = connectors.MaxCallsPerMinute }
	passed := 0
	for i, want := range []int{32, 32, 0} { // the address's share each, and the tenant's in total
		n := p.countPassed(t, bearerHeader(p.Token(t, p.newAutoAgent(t, without).ID)), fmt.Sprintf("192.0.2.%d", i+1), 40)
		if n != want {
			t.Errorf("of agent %d %d pass, want %d", i+1, n, want)
		}
		passed += n
	}
	if n := p.countPassed(t, bearerHeader(p.Token(t, p.newAutoAgent(t).ID)), "192.0.2.9", 5); n != 0 {
		t.Errorf("after %d of the tenant %d more pass", passed, n)
	}
}

func TestRateLimit_Disabled(t *testing.T) {
	t.Parallel()
	p := newLimitedGateway(t, 0)
	if n := p.countPassed(t, bearerHeader(p.Token(t, p.newAutoAgent(t).ID)), "192.0.2.1", 50); n != 50 {
		t.Errorf("%d pass", n)
	}
}
