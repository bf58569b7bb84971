package gateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
)

// TestBrokenServers_DoNotAffectOthers lists and calls tools while one server hangs and another one is down.
func TestBrokenServers_DoNotAffectOthers(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	hung, dead, well := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a"), newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a"), newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a")
	silent, asked := make(chan struct{}), make(chan struct{}, 100)
	t.Cleanup(func() { close(silent) })
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-silent:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(mute.CloseClientConnections)
	for slug, up := range map[string]*upstream{"hung": hung, "dead": dead, "well": well} {
		b.Grant(t, agent.ID, b.newConnector(t, slug, up.url).ID)
	}
	b.move(t, "hung", mute.URL)
	b.move(t, "dead", "http://127.0.0.1:1/mcp")
	token := b.Token(t, agent.ID)
	for _, e := range eras {
		all := connect(t, b.url+"/mcp", token, e)
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan struct{})
		go func() {
			defer close(waiting)
			_, _ = all.CallTool(ctx, &sdk.CallToolParams{Name: "mcp_hung__a", Arguments: map[string]any{"text": "x"}})
		}()
		<-asked
		for range 20 {
			if names := toolNames(t, all); names != "mcp_dead__a mcp_hung__a mcp_well__a" {
				t.Errorf("listed: %q", names)
			}
			if got := textOf(call(t, all, "mcp_well__a", map[string]any{"text": "hello"})); got != "a: hello" {
				t.Errorf("it says %q", got)
			}
		}
		select {
		case <-waiting:
			t.Error("the others waited for the one that hangs")
		default:
		}
		gone := call(t, all, "mcp_dead__a", map[string]any{"text": "x"})
		if !gone.IsError || !strings.Contains(textOf(gone), "can't be reached") {
			t.Errorf("of the dead one: %+v %s", gone, textOf(gone))
		}
		if why := reasonIn(t, gone); why["code"] != "upstream" {
			t.Errorf("the reason is %v", why)
		}
		cancel()
		<-waiting
	}
}

// move changes a connector's URL.
func (b *testEnv) move(t testing.TB, slug, url string) {
	t.Helper()
	c, err := b.Door().Connectors().Get(t.Context(), connectors.Ref(slug))
	if err != nil {
		t.Fatal(err)
	}
	d := connectors.NewDraft()
	d.Slug, d.Name, d.URL, d.RetryAttempts, d.Timeout, d.Enabled = slug, slug, url, 0, patience, true
	if _, err := b.Door().Connectors().Update(t.Context(), c.ID, 0, d); err != nil {
		t.Fatal(err)
	}
}

// reasonIn returns the machine-readable reason of a refused call.
func reasonIn(t testing.TB, r *sdk.CallToolResult) map[string]any {
	t.Helper()
	why, ok := r.Meta["patchbay/reason"].(map[string]any)
	if !ok {
		t.Fatalf("no reason in %s", shownJSON(r))
	}
	return why
}
