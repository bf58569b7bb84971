package toolcall

import (
	"encoding/json"
	"testing"

	"patchbay/internal/connectors"
)

// FuzzQuestions: of what a server asks a client in the middle of a call, that alone goes on which is written in one way, is bounded, and is something
// that the client says it answers.
func FuzzQuestions(f *testing.F) {
	f.Add(`{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form"}}},"requestState":"s"}`, `{"elicitation":{}}`)
	f.Add(`{"inputRequests":{"a":{"method":"tools/call"}},"inputRequests":{}}`, `{"sampling":{},"roots":{}}`)
	f.Add(`{"inputRequests":{"\ud800":{"method":"roots\/list","params":[]}}}`, `{"roots":{}}`)
	to := connectors.Connector{Name: "Tools"}
	f.Fuzz(func(t *testing.T, raw, capabilities string) {
		if askable([]byte(raw), Client{MultiRound: true, Capabilities: json.RawMessage(capabilities)}, to) != nil {
			return
		}
		var all struct {
			Requests map[string]struct {
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
			} `json:"inputRequests"`
		}
		if !json.Valid([]byte(raw)) || json.Unmarshal([]byte(raw), &all) != nil || len(all.Requests) > mostQuestions {
			t.Fatalf("%q may be asked", raw)
		}
		can := asked(json.RawMessage(capabilities))
		for key, r := range all.Requests {
			if len(key) > longestKey || can == "" || r.Method != "elicitation/create" && r.Method != "sampling/createMessage" && r.Method != "roots/list" {
				t.Errorf("%s may be asked as %q", r.Method, key)
			}
		}
	})
}
