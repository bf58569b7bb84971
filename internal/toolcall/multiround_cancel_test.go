package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"patchbay/internal/mcp"
)

// Cancel may return before the multi-round call has ended.
func TestMultiRound_WaitsForCancelledCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := &multiRoundCall{calls: &multiRoundCalls{}, questions: make(chan *serverRequest), requestSlot: make(chan struct{}, 1), done: make(chan struct{}), cancel: func(error) {}}
		m.pendingRequest = &serverRequest{ctx: ctx, key: "q1", method: "elicitation/create"}
		cancel()
		cancelled := errors.New("cancelled")
		go func() {
			synctest.Wait() // until resumeCall waits
			m.err = cancelled
			close(m.done)
		}()
		if _, err := m.resumeCall(t.Context(), &mcp.Input{Responses: json.RawMessage(`{}`)}, Client{}); !errors.Is(err, cancelled) {
			t.Errorf("%v, want the end of the call", err)
		}
		m.expiry.Stop()
	})
}
