package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// newLongHandler answers the n-th call with its own text of so many five-byte words, with chunked encoding.
// told: with Content-Length.
func newLongHandler(stream, told bool, words int) mcptest.Handler {
	return func(w http.ResponseWriter, _ *http.Request, c mcptest.Call) {
		text := strings.Repeat(fmt.Sprintf("%04d ", c.N), words)
		note := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + text + `"}}`
		if !stream {
			w.Header().Set("Content-Type", "application/json")
			reply := mcptest.Result(c, `{"content":[],"structuredContent":"`+text+`"}`)
			if told {
				reply = "[" + note + "," + reply + "]"
			}
			_, _ = io.WriteString(w, reply)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if told {
			_, _ = io.WriteString(w, mcptest.Event(note))
		}
		_, _ = io.WriteString(w, mcptest.Event(mcptest.Result(c, `{"content":[],"structuredContent":"`+text+`"}`)))
	}
}

func TestLentResult_IsValidUntilRelease(t *testing.T) {
	t.Parallel()
	const many, few = 20 << 10, 1 << 10
	for name, tc := range map[string]struct {
		stream, told bool
		words        int
	}{
		"JSON": {false, false, many}, "a batch": {false, true, many}, "a stream": {true, false, many}, "a stream that tells before": {true, true, many},
		"short JSON": {false, false, few}, "a short batch": {false, true, few}, "a short stream": {true, false, few},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dial(t, mcp.Target{URL: startCallServer(t, true, newLongHandler(tc.stream, tc.told, tc.words)).URL})
			var mu sync.Mutex
			var told []string // read on arrival and again at the end; both must be equal
			var kept []json.RawMessage
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					for range 20 {
						result, err := s.Call(t.Context(), mcp.Call{Name: "a", AllowPooled: true, Message: func(m mcp.Message) {
							mu.Lock()
							defer mu.Unlock()
							told, kept = append(told, string(m.Params)), append(kept, m.Params)
						}})
						if err != nil {
							t.Error(err)
							return
						}
						text := strings.Trim(string(result.Structured), `"`)
						if !result.IsPooled() && !tc.told || len(text) != 5*tc.words || strings.Count(text, text[:5]) != tc.words {
							t.Errorf("a result of %d bytes is not lent, not whole, or not one", len(text))
						}
						result.Release()
					}
				})
			}
			group.Wait()
			for i, was := range told {
				if string(kept[i]) != was {
					t.Fatalf("notification %d changed after it was heard", i)
				}
			}
			if tc.told && len(told) != 160 {
				t.Errorf("heard %d notifications", len(told))
			}
		})
	}
}

func TestLentResult_UnreleasedStaysValid(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		s := dial(t, mcp.Target{URL: startCallServer(t, true, newLongHandler(stream, false, 20<<10)).URL})
		var kept []*mcp.Result
		for i := range 10 {
			result, err := s.Call(t.Context(), mcp.Call{Name: "a", AllowPooled: i%2 == 0})
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, result)
		}
		seen := map[string]bool{}
		for _, r := range kept {
			text := strings.Trim(string(r.Structured), `"`)
			if strings.Count(text, text[:5]) != 20<<10 || seen[text[:5]] {
				t.Errorf("stream %v: a kept result changed", stream)
			}
			seen[text[:5]] = true
		}
	}
}
