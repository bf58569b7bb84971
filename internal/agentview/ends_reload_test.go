package agentview_test

import (
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// A view with an end is read again after five minutes, even without a notice: clocks may have stood still.
func TestEnd_ViewsAreReadAgain(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	b.endIn(t, agent.ID, c.ID, time.Hour)
	var late atomic.Int64
	cache := newConnectedCache(t, b.St, agentview.Options{Now: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
	read := func() *agentview.View {
		v, err := cache.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.ID.String()))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := read()
	if read() != first {
		t.Error("the view is read again at once")
	}
	late.Store(int64(5 * time.Minute))
	if read() == first {
		t.Error("the view is kept for five minutes")
	}
}
