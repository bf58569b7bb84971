package gateway_test

import (
	"context"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// missMail makes processes get no notice of mail until reconnect is called. reconnect first waits for mail.
func (b *testEnv) missMail(t *testing.T, processes ...*testProcess) (reconnect func()) {
	for _, p := range processes {
		p.losesMail.Store(true)
	}
	return func() {
		for posted := false; !posted; {
			b.AsSystem(t, "select exists (select from gateway_mail)", []any{}, &posted)
			select {
			case <-time.After(time.Millisecond):
			case <-t.Context().Done():
				t.Fatal("no mail is posted")
			}
		}
		for _, p := range processes {
			p.losesMail.Store(false)
			p.handler.Connected(true)
		}
	}
}

func TestConnected_ReadsMissedClientResponses(t *testing.T) {
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
	reconnect := b.missMail(t, b.testProcess, other)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := make(chan string, 1)
	go func() {
		result, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "mcp_one__ask", Arguments: map[string]any{}})
		if err != nil {
			done <- err.Error()
			return
		}
		done <- textOf(result)
	}()
	reconnect()
	if got := <-done; got != "accept Ann" {
		t.Errorf("it says %q", got)
	}
}

func TestConnected_ReadsMissedCancellations(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	other := newTestProcess(t, b.World)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{})
	came, cancelled := up.waiting()
	b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
	s := b.behindBalancer(t, b.Token(t, agent.ID), other, legacy)
	reconnect := b.missMail(t, b.testProcess, other)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "mcp_one__wait", Arguments: map[string]any{}})
		done <- err
	}()
	<-came
	cancel()
	if err := <-done; err == nil {
		t.Error("the cancelled call succeeds")
	}
	reconnect()
	select {
	case <-cancelled:
	case <-time.After(20 * time.Second):
		t.Error("the server's call is not cancelled")
	}
}
