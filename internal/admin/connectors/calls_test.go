package connectors

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestConnector_ShowsCircuitState(t *testing.T) {
	t.Parallel()
	for want, circuit := range map[string]toolcall.Circuit{
		"closed":                            {State: toolcall.CircuitClosed},
		"closed, after 2 failures in a row": {State: toolcall.CircuitClosed, Failures: 2},
		"half open: testing":                {State: toolcall.CircuitHalfOpen, Failures: 5},
		"open: refusing calls":              {State: toolcall.CircuitOpen, Failures: 5},

		"closed, except for 1 agent with failing calls": {State: toolcall.CircuitOpen, Failures: 5, Agents: 1},
	} {
		facts := callingFacts(t.Context(), connectors.Connector{Settings: connectors.Settings{CallsPerMinute: 60}}, circuit)
		if diff := cmp.Diff([]templates.Fact{{Label: "Calls", Value: "60 calls per minute"}, {Label: "Circuit breaker (this process)", Value: want}}, facts); diff != "" {
			t.Error(diff)
		}
		if said := circuitAttention(t.Context(), circuit, noon); (len(said) > 0) != (circuit.State == toolcall.CircuitOpen && circuit.Agents == 0) {
			t.Errorf("%s: %+v", circuit.State, said)
		}
	}
	said := circuitAttention(t.Context(), toolcall.Circuit{State: toolcall.CircuitOpen, Failures: 5, Until: noon.Add(30 * time.Second)}, noon)
	if said[0].When.Text != "in 1 minute" || said[0].Text != "The server failed 5 times in a row. Next attempt" {
		t.Errorf("%+v", said[0])
	}
}
