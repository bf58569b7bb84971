package toolcall

import (
	"encoding/json"
	"testing"

	"patchbay/internal/connectors"
)

func TestInputRequest_NonObjectIsRefused(t *testing.T) {
	t.Parallel()
	client := Client{MultiRound: true, Capabilities: json.RawMessage(`{"roots":{}}`)}
	for raw, may := range map[string]bool{
		`{"inputRequests":{"a":{"method":"roots/list"}}}`: true, ` {}`: true, `0`: false, `"x"`: false, `[]`: false, `null`: false, ``: false, `{} {}`: false, `{}}`: false,
	} {
		if err := checkInputRequest([]byte(raw), client, connectors.Connector{Settings: connectors.Settings{Name: "Tools"}}); (err == nil) != may {
			t.Errorf("%q may be asked: %v", raw, err)
		}
	}
}
