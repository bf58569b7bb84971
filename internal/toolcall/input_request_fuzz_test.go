package toolcall

import (
	"encoding/json"
	"testing"

	"patchbay/internal/connectors"
)

// FuzzInputRequest: an InputRequired result that passes is unambiguous, bounded, and declared by the client.
func FuzzInputRequest(f *testing.F) {
	f.Add(`{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form"}}},"requestState":"s"}`, `{"elicitation":{}}`)
	f.Add(`{"inputRequests":{"a":{"method":"tools/call"}},"inputRequests":{}}`, `{"sampling":{},"roots":{}}`)
	f.Add(`{"inputRequests":{"\ud800":{"method":"roots\/list","params":[]}}}`, `{"roots":{}}`)
	to := connectors.Connector{Settings: connectors.Settings{Name: "Tools"}}
	f.Fuzz(func(t *testing.T, raw, capabilities string) {
		if checkInputRequest([]byte(raw), Client{MultiRound: true, Capabilities: json.RawMessage(capabilities)}, to) != nil {
			return
		}
		var all struct {
			Requests map[string]struct {
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
			} `json:"inputRequests"`
		}
		if !json.Valid([]byte(raw)) || json.Unmarshal([]byte(raw), &all) != nil || len(all.Requests) > maxInputRequests {
			t.Fatalf("%q may be asked", raw)
		}
		can := normalizeCapabilities(json.RawMessage(capabilities))
		for key, r := range all.Requests {
			if len(key) > maxInputKey || can == "" || r.Method != "elicitation/create" && r.Method != "sampling/createMessage" && r.Method != "roots/list" {
				t.Errorf("%s may be asked as %q", r.Method, key)
			}
		}
	})
}
