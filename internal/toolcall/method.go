package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
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
	view, target, err := c.newMethodView(ctx, actor, connector, m)
	if err != nil {
		return nil, connectors.ToolCall{}, err
	}
	raw, record, err := c.requests.sendRecorded(ctx, UpstreamRequest{
		View: view, Connector: target, account: target.Account, Kind: connectors.CallMethod, Name: m.Method, Method: m.Method, Params: m.Params,
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

// newMethodView returns the view of a request's agent, or of none, and its connector. It refuses what the connector does not allow.
func (c *Executor) newMethodView(
	ctx context.Context, actor auth.Actor, connector connectors.Connector, m MethodRequest,
) (*agentview.View, *agentview.ConnectorView, error) {
	if err := actor.Require(connectors.PermManage); err != nil {
		return nil, nil, err
	}
	if !connector.AllowsMethod(m.Method) {
		return nil, nil, fault.InvalidFields(fault.Field{Location: "method", Message: fmt.Sprintf("The connector %q doesn't allow this method.", connector.Slug)})
	}
	return c.newAdminView(ctx, actor, connector, m.Agent)
}

// keepAccount finds the account of a person's own request. The request uses no other one, also if another one takes its name.
func keepAccount(ctx context.Context, tx *store.Tenant, connector *agentview.ConnectorView, agent *connectors.AgentID) error {
	of, id, err := credentials.FindAccount(ctx, tx, connector.Connector, agent)
	connector.Account = id
	if of.Name != "" {
		connector.Grant.Accounts = strings.Split(of.Name, ",")
	}
	return err
}

// newAdminView returns the view of an agent with a credential that an admin uses, or of none, and the connector with the account.
func (c *Executor) newAdminView(
	ctx context.Context, actor auth.Actor, connector connectors.Connector, agent connectors.Ref,
) (*agentview.View, *agentview.ConnectorView, error) {
	switch perAgent := connector.CredentialMode == connectors.CredentialPerAgent && connector.Auth.Type != connectors.AuthNone; {
	case !connector.Enabled:
		return nil, nil, fault.Errorf(fault.Conflict, "The connector %q is disabled.", connector.Name)
	case perAgent && agent == "":
		return nil, nil, fault.InvalidFields(fault.Field{Location: "agent", Message: "Each agent has its own credential here. Name the agent."})
	}
	view, target := &agentview.View{Tenant: actor.Tenant}, &agentview.ConnectorView{Slug: connector.Slug, Connector: connector}
	err := c.o.Store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if agent == "" {
			return keepAccount(ctx, tx, target, nil)
		}
		if view.Agent, err = tx.Agents().Get(ctx, agent); err != nil {
			return err
		}
		if err := keepAccount(ctx, tx, target, &view.Agent.ID); err != nil {
			return err
		}
		return actor.RequireUse(ctx, tx.Accounts(), view.Agent.ID)
	})
	return view, target, err
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
