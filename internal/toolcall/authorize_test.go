package toolcall

import (
	"testing"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

func TestAuthorizer_RefusesDisabledAgentsAndBlockedTools(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		disabled bool
		blocked  string
		code     Code
	}{
		"disabled agent": {disabled: true, code: CodeNotGranted},
		"not granted":    {blocked: agentview.HeldNotGranted, code: CodeNotGranted},
		"changed":        {blocked: agentview.HeldReview, code: CodeHeld},
		"new":            {blocked: agentview.BlockedNew, code: CodeHeld},
		"switched off":   {blocked: agentview.BlockedDisabled, code: CodeHeld},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := &agentview.Tool{Connector: &agentview.ConnectorView{}, BlockedBy: tc.blocked}
			view := &agentview.View{Agent: connectors.Agent{Enabled: !tc.disabled}}
			err := (&authorizer{}).checkGrant(&activeCall{request: &CallRequest{View: view, Tool: tool}})
			if !isRefused(err, tc.code) {
				t.Errorf("error = %v, want %s", err, tc.code)
			}
		})
	}
}
