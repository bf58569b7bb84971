package gateway_test

import (
	"context"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSubscribe_NotifiesSubscribers subscribes with each client revision at one process and listens at another,
// for each server revision.
func TestSubscribe_NotifiesSubscribers(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		for name, options := range map[string]sdk.StreamableHTTPOptions{"of a handshake server": {}, "of a modern server": {Stateless: true}} {
			t.Run(string(e)+" "+name, func(t *testing.T) {
				t.Parallel()
				b := newTestEnv(t)
				other := newTestProcess(t, b.World)
				agent := b.newAutoAgent(t)
				up := newUpstream(t, options).withTools()
				b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
				heard := make(chan string, 100)
				s := b.behindBalancer(t, b.Token(t, agent.ID), other, e, func(o *sdk.ClientOptions) {
					o.ResourceUpdatedHandler = func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
						if e == legacy && len(r.Params.Meta) != 0 {
							t.Errorf("what is between us and the server came along: %v", r.Params.Meta)
						}
						heard <- r.Params.URI
					}
				})
				if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "patchbay+one:file:///notes"}); err != nil {
					t.Fatal(err)
				}
				updates(t, up, heard, "patchbay+one:file:///notes")
			})
		}
	}
}

// updates repeats a resource update until it is received, because streams open asynchronously.
func updates(t testing.TB, up *upstream, heard <-chan string, want string) {
	t.Helper()
	end := time.After(patience)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("heard of %q, want %q", got, want)
			}
			return
		case <-again.C:
			if err := up.ResourceUpdated(t.Context(), &sdk.ResourceUpdatedNotificationParams{URI: "file:///notes"}); err != nil {
				t.Fatal(err)
			}
		case <-end:
			t.Fatal("nobody heard that the resource changed")
		}
	}
}

// TestSubscribe_BeforeConnectorExists subscribes to a server that is granted after the stream began.
func TestSubscribe_BeforeConnectorExists(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withTools()
	c := b.newConnector(t, "one", up.url)
	granted, heard := make(chan struct{}, 100), make(chan string, 100)
	s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), legacy, func(o *sdk.ClientOptions) {
		o.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { granted <- struct{}{} }
		o.ResourceUpdatedHandler = func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI }
	})
	b.listening(t, 1)
	b.Grant(t, agent.ID, c.ID)
	select {
	case <-granted:
	case <-time.After(patience):
		t.Fatal("nobody heard of the grant")
	}
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "patchbay+one:file:///notes"}); err != nil {
		t.Fatal(err)
	}
	updates(t, up, heard, "patchbay+one:file:///notes")
}
