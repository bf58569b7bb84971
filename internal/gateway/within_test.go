package gateway_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// withinASecond measures three times how long a change takes to reach another process. It must be within a
// second once, and within ten always. A busy machine is late sometimes; a lost message is late each time.
func withinASecond(t *testing.T, what string, felt func() time.Duration) {
	t.Helper()
	best := time.Hour
	for range 3 {
		took := felt()
		if took > 10*time.Second {
			t.Fatalf("%s: %s", what, took)
		}
		best = min(best, took)
	}
	if best > time.Second {
		t.Errorf("%s: %s, the best of three", what, best)
	}
}

func TestRevokedToken_IsRefusedByEveryProcess(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	other := newTestProcess(t, b.World)
	agent := b.newAutoAgent(t)
	withinASecond(t, "a revoked token is refused", func() time.Duration {
		text, made := b.TokenIn(t, b.Tenant, agent.ID)
		for _, url := range []string{b.url, other.url} {
			if got := post(t, url+"/mcp", listTools, "Authorization", bearerHeader(text)); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
		if _, err := b.Door().Agents().DeleteToken(t.Context(), agent.ID, made.ID); err != nil {
			t.Fatal(err)
		}
		revoked := time.Now()
		for _, url := range []string{b.url, other.url} {
			eventually(t, "the token is refused", func() bool {
				return post(t, url+"/mcp", listTools, "Authorization", bearerHeader(text)).status == http.StatusUnauthorized
			})
		}
		return time.Since(revoked)
	})
}

func TestCancel_InOtherProcessReachesServer(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			other := newTestProcess(t, b.World)
			agent := b.newAutoAgent(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{})
			came, cancelled := up.waiting()
			b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
			s := b.behindBalancer(t, b.Token(t, agent.ID), other, e)
			withinASecond(t, "the server hears that the client cancelled", func() time.Duration {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "mcp_one__wait", Arguments: map[string]any{}})
					ended <- err
				}()
				<-came
				began := time.Now()
				cancel()
				<-cancelled
				took := time.Since(began)
				if err := <-ended; err == nil {
					t.Error("the call has a result")
				}
				return took
			})
		})
	}
}

// A person cancels in one process; another one makes the call.
func TestCancel_ByPersonInOtherProcessReachesServer(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	other := newTestProcess(t, b.World)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{})
	came, cancelled := up.waiting()
	b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
	s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	member := b.Member(t, connectors.RoleMember)
	person := auth.Actor{Tenant: connectors.Tenant{ID: b.Tenant}, Kind: auth.KindPerson, UserID: &member.UserID, Name: member.Name, Role: member.Role}
	calls := 0
	withinASecond(t, "the server hears that a person cancelled", func() time.Duration {
		ended := make(chan *sdk.CallToolResult, 1)
		go func() {
			result, _ := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "mcp_one__wait", Arguments: map[string]any{}})
			ended <- result
		}()
		<-came
		calls++
		running := b.call(t, calls)
		began := time.Now()
		if _, err := other.caller.Cancel(t.Context(), person, running.ID); err != nil {
			t.Fatal(err)
		}
		<-cancelled
		took := time.Since(began)
		if result := <-ended; result == nil || !result.IsError {
			t.Errorf("the agent is told %+v", result)
		}
		return took
	})
}

// call returns the newest of n recorded calls.
func (b *testEnv) call(t *testing.T, n int) (call connectors.ToolCall) {
	t.Helper()
	eventually(t, "the call matches", func() bool {
		calls, err := b.Door().Calls().List(t.Context(), store.CallFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(calls.Items) > 0 {
			call = calls.Items[0]
		}
		return len(calls.Items) == n
	})
	return call
}
