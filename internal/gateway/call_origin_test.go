package gateway_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/gateway"
	"patchbay/internal/middleware"
	"patchbay/internal/store"
)

// behindAProxy starts a second handler that trusts proxies on loopback.
func (b *testEnv) behindAProxy(t *testing.T) string {
	t.Helper()
	base, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	h := gateway.New(gateway.Options{Store: b.St, Access: b.access, Caller: b.caller, BaseURL: base, Version: "test", Address: middleware.ClientAddressFunc([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})})
	front := httptest.NewServer(h)
	closeAtEnd(t, front)
	t.Cleanup(func() {
		h.CloseStreams()
		h.Stop(context.WithoutCancel(t.Context()))
	})
	return front.URL
}

// TestCallLog_RecordsRequestOrigin sends each kind of request, accepted and refused.
func TestCallLog_RecordsRequestOrigin(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").withTools().url)
	b.Grant(t, agent.ID, c.ID)
	at, token := b.behindAProxy(t), "Bearer "+b.Token(t, agent.ID).Reveal()
	want := map[string]string{} // expected address by request id
	ask := func(method, params, from string) {
		t.Helper()
		got := post(t, at+"/mcp/one", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`,`+modernMeta+`}}`, "Authorization", token, "X-Forwarded-For", from)
		id := got.header.Get("X-Request-Id")
		if id == "" || want[id] != "" {
			t.Fatalf("%s: the request is %q: %+v", method, id, got)
		}
		if want[id] = from; from == "unknown" {
			want[id] = "127.0.0.1" // the proxy itself
		}
	}
	ask("tools/call", `"name":"a","arguments":{}`, "203.0.113.1")
	ask("tools/call", `"name":"a","arguments":{"text":7}`, "203.0.113.2") // invalid arguments
	ask("prompts/get", `"name":"greet me"`, "2001:db8::3")
	ask("resources/read", `"uri":"file:///days/1"`, "203.0.113.4")
	ask("completion/complete", `"ref":{"type":"ref/prompt","name":"greet me"},"argument":{"name":"color","value":"b"}`, "203.0.113.5")
	ask("tools/call", `"name":"a","arguments":{}`, "unknown")
	eventually(t, "all of it is on record", func() bool {
		list, err := b.Door().Calls().List(t.Context(), store.CallFilter{})
		if err != nil {
			t.Fatal(err)
		}
		have := map[string]string{}
		for _, call := range list.Items {
			have[call.RequestID] = call.From()
		}
		return fmt.Sprint(have) == fmt.Sprint(want)
	})
}
