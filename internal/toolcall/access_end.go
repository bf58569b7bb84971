package toolcall

import (
	"fmt"
	"net/url"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// endFormat shows the end of a grant to the second, as it is decided.
const endFormat = "2006-01-02 15:04:05 MST"

// endedToolRefusal refuses a tool with a grant that has ended.
func endedToolRefusal(t *agentview.Tool) *RefusalError {
	c := t.Connector.Connector
	return &RefusalError{Code: CodeNotGranted, askFor: &askFor{c.Slug, t.Name}, Sentence: fmt.Sprintf(
		"This agent's access to the tool %q of %q ended at %s.", t.Name, c.Name, t.End.UTC().Format(endFormat))}
}

// endedRefusal refuses the use of a connector with a grant that has ended.
func endedRefusal(connector *agentview.ConnectorView) *RefusalError {
	c := connector.Connector
	return &RefusalError{Code: CodeNotGranted, askFor: &askFor{connector: c.Slug}, Sentence: fmt.Sprintf(
		"This agent's access to %q ended at %s.", c.Name, connector.Until().UTC().Format(endFormat))}
}

// checkEnd refuses a request that waited until the grant ended.
func (q *UpstreamRequest) checkEnd() error {
	if q.isByAdmin || q.Kind == "" || !q.Connector.HasEnded() {
		return nil
	}
	return endedRefusal(q.Connector)
}

// askFor is what a person may ask for on the page of AskURL.
type askFor struct {
	connector string
	tool      string // empty: the connector
}

// AskPath is the path of the page where a person asks for an agent's access.
const AskPath = "/access/request"

// addAskURL returns the refusal with the page where a person asks for what the agent lacks, if there is one.
func (e *explainer) addAskURL(agent connectors.Agent, refusal *RefusalError) *RefusalError {
	if refusal.askFor == nil || refusal.AskURL != "" {
		return refusal
	}
	query := url.Values{"agent": {agent.Slug}, "connector": {refusal.askFor.connector}}
	if refusal.askFor.tool != "" {
		query.Set("tool", refusal.askFor.tool)
	}
	asked := *refusal
	asked.AskURL = e.o.BaseURL + AskPath + "?" + query.Encode()
	return &asked
}

// explainAccess is addAskURL for an error.
func (e *explainer) explainAccess(agent connectors.Agent, err error) error {
	if refusal, ok := err.(*RefusalError); ok { //nolint:errorlint // it is ours, and at the top
		return e.addAskURL(agent, refusal)
	}
	return err
}
