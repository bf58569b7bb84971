package toolcall

import (
	"encoding/json"
	"slices"
	"testing"

	"patchbay/internal/mcp"
)

// TestSentProgress_Increases mixes states of a task with the server's own progress.
func TestSentProgress_Increases(t *testing.T) {
	t.Parallel()
	const state = -1
	for name, tc := range map[string]struct{ in, want []float64 }{
		"states":              {in: []float64{state, state, state}, want: []float64{0, 1, 2}},
		"states, then less":   {in: []float64{state, state, state, 0.1, 2, 0.2, state}, want: []float64{0, 1, 2, 3}},
		"states, then more":   {in: []float64{state, state, 0.5, 1, 7, state, 6, 7, 8}, want: []float64{0, 1, 7, 8}},
		"the server's alone":  {in: []float64{0.1, 0.2, state, 0.3}, want: []float64{0.1, 0.2, 0.3}},
		"not increasing ones": {in: []float64{3, 3, 2}, want: []float64{3, 3, 2}}, // without a task, they are the server's fault
	} {
		var got []float64
		send := func(raw json.RawMessage) {
			var n struct{ Progress float64 }
			if err := json.Unmarshal(raw, &n); err != nil {
				t.Error(err)
			}
			got = append(got, n.Progress)
		}
		var sent sentProgress
		for _, number := range tc.in {
			if number == state {
				sent.sendState(send, "working")
				continue
			}
			sent.sendNote(send, mcp.ProgressNotification{Progress: number})
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
