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
	case connector.HasEnded():
		return endedRefusal(connector)
	case kind == connectors.CallMethod:
		return methodRefusal(v, connector, name)
	case kind == connectors.CallResource && connector.HasSkillOverLimit(name):
		return newSkillRefusal(connector, skillOverLimit)
	case kind == connectors.CallResource && connector.WithholdsSkill(name):
		return newSkillRefusal(connector, skillHeld)
	case !connector.Permits(kind, name):
		return &RefusalError{Code: CodeNotGranted, Sentence: fmt.Sprintf(ungrantedSentences[kind], server)}
	}
	return nil
}

var ungrantedSentences = map[connectors.CallKind]string{
	connectors.CallPrompt:     "This agent has no access to the prompts of %q. An admin can grant it.",
	connectors.CallResource:   "This agent has no access to this resource of %q: it isn't listed, matches no template of the agent, or isn't granted. An admin can change that.",
	connectors.CallCompletion: "This agent has no access to this prompt or resource of %q. An admin can grant it.",
}
