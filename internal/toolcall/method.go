package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// MethodRequest is a request or notification outside MCP, for an admin. The connector's settings allow its method.
type MethodRequest struct {
	Tenant    connectors.Tenant
	Connector connectors.Connector
	Agent     *connectors.Agent // owner of the credential; nil: the shared one
	Method    string
	Params    json.RawMessage // an object; nil: none
	Notify    bool            // a notification: no result
	ActorName string          // the person or key
	Origin    connectors.CallOrigin
}

// SendMethod sends a request under the connector's limits, and records it. It needs no grant. The result is the server's
// own object. The record is stored when SendMethod returns.
func (c *Executor) SendMethod(ctx context.Context, m MethodRequest) (json.RawMessage, connectors.ToolCall, error) {
	view := &agentview.View{Tenant: m.Tenant}
	if m.Agent != nil {
		view.Agent = *m.Agent
	}
	raw, record, err := c.requests.sendRecorded(ctx, UpstreamRequest{
		View: view, Connector: &agentview.ConnectorView{Connector: m.Connector}, Kind: connectors.CallMethod, Name: m.Method, Method: m.Method, Params: m.Params,
		Notify: m.Notify, Source: connectors.SourceAPI, ActorName: m.ActorName, Origin: m.Origin, isByAdmin: true,
	})
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	c.o.History.Flush(ctx)
	return raw, record, err
}

// methodRefusal returns why an agent may not send a method outside MCP; nil: it may.
func methodRefusal(v *agentview.View, connector *agentview.ConnectorView, method string) error {
	refuse := func(sentence string) error {
		return &RefusalError{Code: CodeNotGranted, Sentence: fmt.Sprintf(sentence, connector.Connector.Name)}
	}
	switch {
	case !connector.Connector.AllowsMethod(method):
		return refuse("The connector %q does not allow this method. An admin allows it in the connector's settings.")
	case !connector.Grant.AllTools:
		return refuse("Methods outside MCP need a grant of all tools of %q. An admin changes the grant on the agent's page.")
	case connector.Grant.ApprovalMode(v.Agent.Approval) != connectors.ApprovalAuto:
		return refuse("Calls of this agent to %q need approval, and methods outside MCP cannot wait for one. An admin changes the approval on the agent's page.")
	}
	return nil
}

// checkPermission returns why the request may not be sent; nil: it may.
func (q *UpstreamRequest) checkPermission() error {
	if q.isByAdmin {
		return nil // checked by the caller
	}
	return ItemRefusal(q.View, q.Connector, q.Kind, q.Name)
}

// checkMethodResult refuses the result of a method outside MCP that is no object, which no client accepts.
func (q *UpstreamRequest) checkMethodResult(raw json.RawMessage) error {
	if q.Kind != connectors.CallMethod || q.Notify || bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return nil
	}
	return &RefusalError{Code: CodeUpstream, Sentence: fmt.Sprintf("The server of %q answered with a result that is not a JSON object.", q.Connector.Connector.Name)}
}
