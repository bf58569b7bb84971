package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/secret"
	"patchbay/internal/testing/testclient"
)

// replicas is a transport that alternates between processes like a load balancer.
type replicas struct {
	token secret.Text
	hosts []string
	next  http.RoundTripper
	n     atomic.Int64
}

func (r *replicas) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Host = r.hosts[int(r.n.Add(1))%len(r.hosts)]
	req.Header.Set("Authorization", bearerHeader(r.token))
	return r.next.RoundTrip(req)
}

func (b *testEnv) behindBalancer(t testing.TB, token secret.Text, other *testProcess, e era, opts ...func(*sdk.ClientOptions)) *sdk.ClientSession {
	t.Helper()
	var o sdk.ClientOptions
	for _, opt := range opts {
		opt(&o)
	}
	hosts := []string{strings.TrimPrefix(b.url, "http://"), strings.TrimPrefix(other.url, "http://")}
	balancer := &replicas{token: token, hosts: hosts, next: testclient.New(t).Transport}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, &o).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: b.url + "/mcp", HTTPClient: &http.Client{Transport: balancer},
	}, &sdk.ClientSessionOptions{ProtocolVersion: string(e)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func TestSession_WorksInAnyProcess(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			other := newTestProcess(t, b.World)
			agent := b.newAutoAgent(t)
			b.Grant(t, agent.ID, b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a").withTools().url).ID)
			s := b.behindBalancer(t, b.Token(t, agent.ID), other, e)
			for range 4 {
				useAll(t, s, exposedNaming{prefix: "mcp_one__", prompt: "mcp_one__greet_me_2601d788", scheme: "patchbay+one:"})
			}
		})
	}
}

// withElicitation adds a tool that asks the client for a name.
func (u *upstream) withElicitation() *upstream {
	u.AddTool(&sdk.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			said, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Who are you?", RequestedSchema: json.RawMessage(
				`{"type":"object","properties":{"name":{"type":"string"}}}`)})
			if err != nil {
				return nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s %v", said.Action, said.Content["name"])}}}, nil
		})
	return u
}

// TestElicitation_AnswerInOtherProcessArrives asks through one process and answers through the other.
func TestElicitation_AnswerInOtherProcessArrives(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	other := newTestProcess(t, b.World)
	agent := b.newAutoAgent(t)
	b.Grant(t, agent.ID, b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withElicitation().url).ID)
	s := b.behindBalancer(t, b.Token(t, agent.ID), other, legacy, func(o *sdk.ClientOptions) {
		o.ElicitationHandler = func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
		}
	})
	for range 4 {
		if got := textOf(call(t, s, "mcp_one__ask", map[string]any{})); got != "accept Ann" {
			t.Errorf("it says %q", got)
		}
	}
}

// waiting adds a tool that blocks until its call is canceled.
func (u *upstream) waiting() (came chan struct{}, cancelled chan struct{}) {
	came, cancelled = make(chan struct{}, 10), make(chan struct{}, 10)
	u.AddTool(&sdk.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			came <- struct{}{}
			<-ctx.Done()
			cancelled <- struct{}{}
			return nil, ctx.Err()
		})
	return came, cancelled
}
