package toolcall

import (
	"fmt"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// ItemRefusal returns why an agent may not use a prompt or resource, by the server's own name, complete an argument of
// one, or send a method outside MCP; nil: it may. A kind that is empty or a tool's is nil.
func ItemRefusal(v *agentview.View, connector *agentview.ConnectorView, kind connectors.CallKind, name string) error {
	server := connector.Connector.Name
	switch {
	case kind == "" || kind == connectors.CallTool:
		return nil
	case !v.Agent.Enabled:
		return disabledRefusal()
	case kind == connectors.CallMethod:
		return methodRefusal(v, connector, name)
	case !connector.Permits(kind, name):
		return &RefusalError{Code: CodeNotGranted, Sentence: fmt.Sprintf(ungrantedSentences[kind], server)}
	}
	return nil
}

var ungrantedSentences = map[connectors.CallKind]string{
	connectors.CallPrompt:     "This agent may not use the prompts of %q. An admin grants them on the agent's page.",
	connectors.CallResource:   "This agent may not read this resource of %q: the server does not list it, no template of the agent matches it, or the grant leaves it out. An admin changes the grant on the agent's page.",
	connectors.CallCompletion: "This agent may not use this prompt or resource of %q. An admin grants it on the agent's page.",
}
