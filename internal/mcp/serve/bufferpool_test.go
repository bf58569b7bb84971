package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/mcp/serve"
)

// Bodies and replies use pooled buffers: none must reach another client.
func TestBufferPool_ManyClientsGetOwnReplies(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		defer r.ReleaseBody()
		if r.Name == "stream" {
			if err := r.Notify("notifications/progress", r.Arguments); err != nil {
				return nil, err
			}
		}
		return json.RawMessage(`{"echo":` + string(r.Arguments) + `}`), nil
	}})
	session := p.startSession("2025-11-25", "{}")
	var all sync.WaitGroup
	for client := range 16 {
		all.Go(func() {
			for i := range 40 {
				name := []string{"json", "stream"}[i%2]
				echo := fmt.Sprintf(`{"of":"%d.%d","long":"%s"}`, client, i, strings.Repeat("x", 1<<(i%17)))
				a := modernRequest("tools/call", `,"name":"`+name+`","arguments":`+echo, "")
				if i%3 == 0 {
					a = inSession(session, fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d.%d","method":"tools/call","params":{"name":"%s","arguments":%s}}`, client, i, name, echo))
				}
				if text := p.send(a).text(); !strings.Contains(text, `"echo":`+echo+`}`) || strings.Count(text, echo) != 1+i%2 {
					t.Errorf("client %d, call %d: %.200s", client, i, text)
					return
				}
			}
		})
	}
	all.Wait()
}
