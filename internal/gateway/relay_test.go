package gateway_test

import (
	"context"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asks returns the slow requests besides tool calls.
func asks(s *sdk.ClientSession) map[string]func(context.Context) error {
	prompt, resource := &sdk.GetPromptParams{Name: "greet me"}, &sdk.ReadResourceParams{URI: "file:///notes"}
	completion := &sdk.CompleteParams{
		Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: "greet me"}, Argument: sdk.CompleteParamsArgument{Name: "color", Value: "b"},
	}
	for _, p := range []sdk.Params{prompt, resource, completion} {
		p.SetMeta(map[string]any{"progressToken": "mine"})
	}
	return map[string]func(context.Context) error{
		"prompts/get":         func(ctx context.Context) error { _, err := s.GetPrompt(ctx, prompt); return err },
		"resources/read":      func(ctx context.Context) error { _, err := s.ReadResource(ctx, resource); return err },
		"completion/complete": func(ctx context.Context) error { _, err := s.Complete(ctx, completion); return err },
	}
}

// addMiddleware runs do before the upstream answers those requests.
func (u *upstream) addMiddleware(do func(ctx context.Context, s *sdk.ServerSession, p sdk.Params) error) {
	u.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if _, ok := asks(nil)[method]; ok {
				s, _ := r.GetSession().(*sdk.ServerSession)
				if err := do(ctx, s, r.GetParams()); err != nil {
					return nil, err
				}
			}
			return next(ctx, method, r)
		}
	})
}

// everyPair runs a test with each pair of client and server revisions.
func everyPair(
	t *testing.T, servers map[string]sdk.StreamableHTTPOptions,
	test func(t *testing.T, up *upstream, connected func() *sdk.ClientSession, heard chan sdk.ProgressNotificationParams),
) {
	t.Helper()
	for name, options := range servers {
		for _, e := range eras {
			t.Run(name+", "+string(e), func(t *testing.T) {
				t.Parallel()
				b := newTestEnv(t)
				agent := b.newAutoAgent(t)
				up := newUpstream(t, options).withTools()
				heard := make(chan sdk.ProgressNotificationParams, 10)
				test(t, up, func() *sdk.ClientSession {
					b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
					return connect(t, b.url+"/mcp/one", b.Token(t, agent.ID), e, func(o *sdk.ClientOptions) {
						o.ProgressNotificationHandler = func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { heard <- *r.Params }
					})
				}, heard)
			})
		}
	}
}

func TestQueries_RelayProgress(t *testing.T) {
	t.Parallel()
	servers := map[string]sdk.StreamableHTTPOptions{"handshake server": {}, "modern server": {Stateless: true}}
	everyPair(t, servers, func(t *testing.T, up *upstream, connected func() *sdk.ClientSession, heard chan sdk.ProgressNotificationParams) {
		up.addMiddleware(func(ctx context.Context, s *sdk.ServerSession, p sdk.Params) error {
			return s.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: p.GetMeta()["progressToken"], Progress: 1, Total: 3, Message: "step"})
		})
		for method, ask := range asks(connected()) {
			if err := ask(t.Context()); err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			if got := <-heard; got.ProgressToken != "mine" || got.Progress != 1 || got.Total != 3 || got.Message != "step" {
				t.Errorf("%s: %+v", method, got)
			}
		}
	})
}

func TestQueries_AreCancelledUpstream(t *testing.T) {
	t.Parallel()
	servers := map[string]sdk.StreamableHTTPOptions{"handshake server": {}} // the SDK's modern server does not notice a closed stream
	everyPair(t, servers, func(t *testing.T, up *upstream, connected func() *sdk.ClientSession, _ chan sdk.ProgressNotificationParams) {
		came, cancelled := make(chan struct{}), make(chan struct{}, 10)
		up.addMiddleware(func(ctx context.Context, _ *sdk.ServerSession, _ sdk.Params) error {
			came <- struct{}{}
			<-ctx.Done()
			cancelled <- struct{}{}
			return ctx.Err()
		})
		for method, ask := range asks(connected()) {
			ctx, cancel := context.WithCancel(t.Context())
			answered := make(chan error)
			go func() { answered <- ask(ctx) }()
			<-came
			cancel()
			if err := <-answered; err == nil {
				t.Errorf("%s was answered", method)
			}
			<-cancelled
		}
	})
}
