package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"patchbay/internal/mcp"
)

// Cancel returns when the call runs no more, which may be before its talk has ended.
func TestTalk_WaitsForTheEndOfACancelledCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		k := &talk{c: &Caller{}, asks: make(chan *question), turn: make(chan struct{}, 1), done: make(chan struct{}), cancel: func(error) {}}
		k.open = &question{ctx: ctx, key: "q1", method: "elicitation/create"}
		cancel()
		cancelled := errors.New("cancelled")
		go func() {
			synctest.Wait() // resume waits
			k.err = cancelled
			close(k.done)
		}()
		if _, err := k.resume(t.Context(), &mcp.Input{Responses: json.RawMessage(`{}`)}, Client{}); !errors.Is(err, cancelled) {
			t.Errorf("%v, want the end of the call", err)
		}
		k.expiry.Stop()
	})
}
