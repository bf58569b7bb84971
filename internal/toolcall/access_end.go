package toolcall

import (
	"fmt"

	"patchbay/internal/agentview"
)

// endFormat shows the end of a grant to the second, as it is decided.
const endFormat = "2006-01-02 15:04:05 MST"

// endedToolRefusal refuses a tool with a grant that has ended.
func endedToolRefusal(t *agentview.Tool) *RefusalError {
	c := t.Connector.Connector
	return &RefusalError{Code: CodeNotGranted, Sentence: fmt.Sprintf(
		"This agent's access to the tool %q of %q ended at %s.", t.Name, c.Name, t.End.UTC().Format(endFormat))}
}

// endedRefusal refuses the use of a connector with a grant that has ended.
func endedRefusal(connector *agentview.ConnectorView) *RefusalError {
	c := connector.Connector
	return &RefusalError{Code: CodeNotGranted, Sentence: fmt.Sprintf(
		"This agent's access to %q ended at %s.", c.Name, connector.Until().UTC().Format(endFormat))}
}

// checkEnd refuses a request that waited until the grant ended.
func (q *UpstreamRequest) checkEnd() error {
	if q.isByAdmin || q.Kind == "" || !q.Connector.HasEnded() {
		return nil
	}
	return endedRefusal(q.Connector)
}
