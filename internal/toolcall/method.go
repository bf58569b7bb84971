package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// MethodRequest is a request or notification outside MCP, for an admin. The connector's settings allow its method.
type MethodRequest struct {
	Method string
	Params json.RawMessage // an object; nil: none
	Notify bool            // a notification: no result; also by its name
	Agent  connectors.Ref  // owner of the credential; empty: the shared one
	Source connectors.CallSource
}

// SendMethod sends a request under the connector's limits, and records it. It needs no grant. The result is the server's
// own object. The record is stored when SendMethod returns. Its id is zero if nothing was sent, with a fault about the fields
// method, params and agent.
func (c *Executor) SendMethod(ctx context.Context, actor auth.Actor, connector connectors.Connector, m MethodRequest) (json.RawMessage, connectors.ToolCall, error) {
	view, accounts, err := c.newMethodView(ctx, actor, connector, m)
	if err != nil {
		return nil, connectors.ToolCall{}, err
	}
	raw, record, err := c.requests.sendRecorded(ctx, UpstreamRequest{
		View: view, Connector: newAdminConnector(connector, accounts), Kind: connectors.CallMethod, Name: m.Method, Method: m.Method, Params: m.Params,
		Notify: m.Notify || connectors.IsNotification(m.Method), Source: m.Source, ActorName: actor.Name, Origin: actor.CallOrigin(), isByAdmin: true,
		Client: Client{Caller: actor.Caller()},
	})
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	c.o.History.Flush(ctx)
	if bad, ok := errors.AsType[*InvalidArgumentsError](err); ok {
		return nil, connectors.ToolCall{}, fault.InvalidFields(fault.Field{Location: "params", Message: bad.Sentence})
	}
	return raw, record, err
}

// newMethodView returns the view of a request's agent, or of none. It refuses what the connector does not allow.
func (c *Executor) newMethodView(ctx context.Context, actor auth.Actor, connector connectors.Connector, m MethodRequest) (*agentview.View, []string, error) {
	if err := actor.Require(connectors.PermManage); err != nil {
		return nil, nil, err
	}
	if !connector.AllowsMethod(m.Method) {
		return nil, nil, fault.InvalidFields(fault.Field{Location: "method", Message: fmt.Sprintf("The connector %q doesn't allow this method.", connector.Slug)})
	}
	return c.newAdminView(ctx, actor, connector, m.Agent)
}

// newAdminConnector is the connector of an admin's request, with the accounts of newAdminView.
func newAdminConnector(c connectors.Connector, accounts []string) *agentview.ConnectorView {
	return &agentview.ConnectorView{Connector: c, Grant: connectors.Grant{Accounts: accounts}}
}

// boundAccounts returns the accounts that the agent's grant binds; nil: none.
func boundAccounts(ctx context.Context, tx *store.Tenant, agent connectors.AgentID, connector connectors.ConnectorID) ([]string, error) {
	granted, err := tx.Agents().Grant(ctx, agent, connector)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return granted.Grant.Accounts, err
}

// newAdminView returns the view of an agent with a credential that an admin uses, or of none, and the accounts that the agent's grant
// binds.
func (c *Executor) newAdminView(ctx context.Context, actor auth.Actor, connector connectors.Connector, agent connectors.Ref) (view *agentview.View, accounts []string, err error) {
	switch perAgent := connector.CredentialMode == connectors.CredentialPerAgent && connector.Auth.Type != connectors.AuthNone; {
	case !connector.Enabled:
		return nil, nil, fault.Errorf(fault.Conflict, "The connector %q is disabled.", connector.Name)
	case perAgent && agent == "":
		return nil, nil, fault.InvalidFields(fault.Field{Location: "agent", Message: "Each agent has its own credential here. Name the agent."})
	}
	view = &agentview.View{Tenant: actor.Tenant}
	if agent == "" {
		return view, nil, nil
	}
	err = c.o.Store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if view.Agent, err = tx.Agents().Get(ctx, agent); err != nil {
			return err
		}
		if accounts, err = boundAccounts(ctx, tx, view.Agent.ID, connector.ID); err != nil {
			return err
		}
		return actor.RequireUse(ctx, tx.Accounts(), view.Agent.ID)
	})
	return view, accounts, err
}

// methodRefusal returns why an agent may not send a method outside MCP; nil: it may.
func methodRefusal(v *agentview.View, connector *agentview.ConnectorView, method string) error {
	refuse := func(sentence string) *RefusalError {
		return &RefusalError{Code: CodeNotGranted, Sentence: fmt.Sprintf(sentence, connector.Connector.Name)}
	}
	switch {
	case !connector.Connector.AllowsMethod(method):
		return refuse("The connector %q doesn't allow this method. An admin can allow it.")
	case !connector.Grant.AllTools:
		refusal := refuse("Methods outside MCP need access to all tools of %q. An admin can grant it.")
		refusal.Ask = wantConnector(connector)
		return refusal
	case connector.Grant.ApprovalMode(v.Agent.Approval) != connectors.ApprovalAuto:
		return refuse("This agent's calls to %q need approval, and methods outside MCP can't wait for it. An admin can change that.")
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
	return &RefusalError{Code: CodeUpstream, Sentence: fmt.Sprintf("%q returned a result that isn't a JSON object.", q.Connector.Connector.Name)}
}
