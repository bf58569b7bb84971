package toolcall

import (
	"testing"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

func TestBlockedRefusal_NamesWhatIsDisabled(t *testing.T) {
	t.Parallel()
	for enabled, want := range map[bool]string{
		false: `The connector "Linear" is disabled. An admin can enable it.`,
		true:  `The tool "search" of "Linear" is disabled. An admin can enable it.`,
	} {
		c := connectors.Connector{Settings: connectors.Settings{Name: "Linear", Enabled: enabled}}
		tool := &agentview.Tool{Name: "search", Connector: &agentview.ConnectorView{Connector: c}, BlockedBy: agentview.BlockedDisabled}
		if got := blockedRefusal(tool).Sentence; got != want {
			t.Errorf("enabled: %t: %q, want %q", enabled, got, want)
		}
	}
}

func TestErrorSentence_SaysThatAProgramEnded(t *testing.T) {
	t.Parallel()
	c := connectors.Connector{Settings: connectors.Settings{Name: "Files", Transport: connectors.TransportStdio}}
	ended := &mcp.Error{Reason: mcp.ReasonProtocol, Detail: "ended before its reply, with exit code 3"}
	want := `The program of "Files" ended before its reply, with exit code 3. Its standard error is in Patchbay's debug log.`
	if got := errorSentence(ended, c); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := errorSentence(&mcp.Error{Reason: mcp.ReasonProtocol}, c); got != `"Files" returned an invalid MCP response. Its log may say why.` {
		t.Errorf("%q", got)
	}
}
