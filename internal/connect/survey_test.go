package connect_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"patchbay/internal/oauth/oauthtest"
)

// A link needs no sign-in: its holder could make us contact a slow server many times at once.
func TestOpen_ConcurrentCallsShareSurvey(t *testing.T) {
	t.Parallel()
	const callers = 24
	var asked atomic.Int32
	over := make(chan struct{})
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{
		OpenMethods: []string{"server/discover", "initialize"},
		Next: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}),
	})
	t.Cleanup(func() { close(over) }) // before the server waits for its requests
	token := b.link(t, b.protected(t), nil, "")
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			if i, err := b.broker.ReadLink(t.Context(), token); err != nil || i.Problem == "" {
				t.Errorf("invitation = %+v, %v", i, err)
			}
		})
	}
	all.Wait()
	if n := asked.Load(); n >= callers/2 {
		t.Errorf("%d visitors had the server asked %d times", callers, n)
	}
}
