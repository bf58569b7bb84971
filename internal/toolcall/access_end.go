package toolcall

import (
	"context"
	"encoding/json"
	"fmt"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
)

// endFormat shows the end of a grant to the second, as it is decided.
const endFormat = "2006-01-02 15:04:05 MST"

// endedToolRefusal refuses a tool with a grant that has ended.
func endedToolRefusal(t *agentview.Tool) *RefusalError {
	c := t.Connector.Connector
	return &RefusalError{Code: CodeNotGranted, Ask: wantTool(t), Sentence: fmt.Sprintf(
		"This agent's access to the tool %q of %q ended at %s.", t.Name, c.Name, t.End.UTC().Format(endFormat))}
}

// endedRefusal refuses the use of a connector with a grant that has ended.
func endedRefusal(connector *agentview.ConnectorView) *RefusalError {
	c := connector.Connector
	return &RefusalError{Code: CodeNotGranted, Ask: wantConnector(connector), Sentence: fmt.Sprintf(
		"This agent's access to %q ended at %s.", c.Name, connector.Until().UTC().Format(endFormat))}
}

// checkEnd refuses a request that waited until the grant ended.
func (q *UpstreamRequest) checkEnd() error {
	if q.taskEnd != nil {
		return q.taskEnd()
	}
	if q.isByAdmin || q.Kind == "" || !q.Connector.HasEnded() {
		return nil
	}
	return endedRefusal(q.Connector)
}

// newTaskEnd returns a function that refuses new input for a task after the end of its grant; nil: the grant has no end. Reading
// and cancelling an own task stay allowed: neither makes it do more. The tool's name is in the history.
func (tr *taskRequests) newTaskEnd(ctx context.Context, q *UpstreamRequest, t taskHandle) (func() error, error) {
	connector := q.Connector
	if !connector.HasEnds() {
		return nil, nil
	}
	var call connectors.ToolCall
	err := tr.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) (err error) {
		call, err = tr.o.Store.Tenant(q.View.Tenant.ID).Calls().Get(ctx, t.Call)
		return err
	})
	if err != nil && !fault.Is(err, fault.NotFound) { // not found: the history is older than it is kept
		return nil, unavailableRefusal(err, t.Call)
	}
	tool := connector.Tool(call.Tool)
	return func() error {
		switch {
		case tool != nil && tool.HasEnded():
			return endedToolRefusal(tool)
		case tool == nil && connector.HasEnded():
			return endedRefusal(connector)
		}
		return nil
	}, nil
}

// refuseInputAfter makes the client's answers to the server's requests fail after the end of the grant.
func (c *Client) refuseInputAfter(taskEnd func() error) {
	send := c.SendRequest
	if send == nil || taskEnd == nil {
		return
	}
	c.SendRequest = func(ctx context.Context, r mcp.InputRequest) (json.RawMessage, error) {
		if err := taskEnd(); err != nil {
			return nil, err
		}
		answer, err := send(ctx, r)
		if ended := taskEnd(); ended != nil {
			return nil, ended
		}
		return answer, err
	}
}
