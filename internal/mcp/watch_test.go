package mcp_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// TestWatch_SurvivesTheEndOfAnother ends a watcher while another begins to watch the same resource. The server takes
// longer for an unsubscribe than for a subscribe: of two requests at once the unsubscribe would come last.
func TestWatch_SurvivesTheEndOfAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		isSubscribed, requests := false, 0
		change := func(to bool, d time.Duration) mcptest.Handler {
			return mcptest.Answer("application/json", func(c mcptest.Call) string {
				time.Sleep(d)
				mu.Lock()
				defer mu.Unlock()
				isSubscribed = to
				requests++
				return mcptest.Result(c, "{}")
			})
		}
		up, client := inMemory(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{
			"GET": newAnnouncingHandler(""), "resources/subscribe": change(true, 100*time.Millisecond), "resources/unsubscribe": change(false, 900*time.Millisecond),
		}})
		s, err := client.Dial(t.Context(), mcp.Target{URL: up.URL, Era: mcp.EraHandshake, Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(t.Context())
		watch := func() (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- s.Watch(ctx, []string{"file:///a"}, func(mcp.Message) {}) }()
			return func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		}
		want := func(when string, on bool, n int) {
			t.Helper()
			time.Sleep(time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if isSubscribed != on || requests != n {
				t.Errorf("%s: subscribed: %t after %d requests, want %t after %d", when, isSubscribed, requests, on, n)
			}
		}
		stop := watch()
		want("one watcher", true, 1)
		stop()
		time.Sleep(time.Millisecond) // the unsubscribe is under way
		stop = watch()
		want("a watcher after it", true, 3)
		second := watch()
		synctest.Wait()
		stop()
		want("two at once", true, 3)
		second()
		want("no watcher", false, 4)
	})
}
