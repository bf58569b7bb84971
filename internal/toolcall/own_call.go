package toolcall

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// TypeConfirmationRequired is the problem type of an own call that its caller has to confirm.
const TypeConfirmationRequired = "confirmation-required"

// OwnCall is a call of a tool by an admin for themselves: without an agent, a grant or another person's approval.
type OwnCall struct {
	ID        connectors.ToolCallID // of the call; zero: a new one
	Actor     auth.Actor
	Connector connectors.Ref
	Tool      string         // the server's own name
	Account   connectors.Ref // the agent with the account, where each agent has its own; empty: the shared credential
	Arguments json.RawMessage
	Confirmed bool // the admin confirmed the call; see [TypeConfirmationRequired]
	Source    connectors.CallSource
	Timeout   time.Duration // as in [CallRequest]
}

// RunOwnCall makes an own call as [Executor.Run] does, under the connector's limits and the quotas. The history has it without
// an agent, the audit log as tool.try. A tool that may change data, or has not been accepted, is called after confirmation.
// Errors are as of Run; a Conflict of TypeConfirmationRequired asks for the confirmation.
func (c *Executor) RunOwnCall(ctx context.Context, own OwnCall, timeout time.Duration) (connectors.ToolCall, error) {
	if err := own.Actor.Require(connectors.PermManage); err != nil {
		return connectors.ToolCall{}, err
	}
	request, review, err := c.newOwnRequest(ctx, own)
	if err != nil {
		return connectors.ToolCall{}, err
	}
	if err := request.Tool.Validate(ctx, own.Arguments); err != nil {
		if ctx.Err() != nil {
			return connectors.ToolCall{}, ctx.Err()
		}
		return connectors.ToolCall{}, &InvalidArgumentsError{Sentence: err.Error()}
	}
	if err := own.checkConfirmed(request.Tool, review); err != nil {
		return connectors.ToolCall{}, err
	}
	if request.ID = own.ID; request.ID == (connectors.ToolCallID{}) {
		request.ID = NewCallID()
	}
	if err := c.o.Store.Tenant(own.Actor.Tenant.ID).Audit().Record(ctx, own.newEvent(request)); err != nil {
		return connectors.ToolCall{}, err
	}
	return c.Run(ctx, request, timeout)
}

// newOwnRequest reads the tool. It refuses one that cannot be called.
func (c *Executor) newOwnRequest(ctx context.Context, own OwnCall) (request CallRequest, review connectors.Review, err error) {
	var connector connectors.Connector
	var tool connectors.Tool
	var view *agentview.View
	var called *agentview.Tool
	err = c.o.Store.Tenant(own.Actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if connector, err = tx.Connectors().Get(ctx, own.Connector); err != nil {
			return err
		}
		if tool, err = tx.Tools().Get(ctx, connector.ID, own.Tool); err != nil {
			return err
		}
		var agent connectors.Agent
		var owner *connectors.AgentID
		if own.Account != "" {
			if agent, err = tx.Agents().Get(ctx, own.Account); err != nil {
				return err
			}
			owner = &agent.ID
		}
		view, called = agentview.NewOwnTool(own.Actor.Tenant, connector, tool, agent)
		return keepAccount(ctx, tx, called.Connector, owner)
	})
	if err == nil {
		err = own.checkAccount(connector)
	}
	if err != nil {
		return request, "", err
	}
	request = CallRequest{
		Arguments: own.Arguments, Source: own.Source, ActorName: own.Actor.Name, Origin: own.Actor.CallOrigin(), Timeout: own.Timeout, isOwn: true,
		Client: Client{Caller: own.Actor.Caller()}, View: view, Tool: called,
	}
	if request.Tool.BlockedBy != "" {
		return request, "", fault.Errorf(fault.Conflict, "%s", blockedRefusal(request.Tool).Sentence)
	}
	return request, tool.Review, nil
}

// checkAccount refuses an account where the credential is shared, and its lack where each agent has its own.
func (own OwnCall) checkAccount(c connectors.Connector) error {
	perAgent := c.CredentialMode == connectors.CredentialPerAgent && c.Auth.Type != connectors.AuthNone
	switch {
	case perAgent && own.Account == "":
		return fault.InvalidFields(fault.Field{Location: "agent", Message: "Each agent has its own credential here. Name the agent."})
	case !perAgent && own.Account != "":
		return fault.InvalidFields(fault.Field{Location: "agent", Message: "All agents share one credential here. Leave the agent out."})
	}
	return nil
}

// checkConfirmed asks for a confirmation before a call that may change data, or is of a tool that has not been accepted.
func (own OwnCall) checkConfirmed(t *agentview.Tool, review connectors.Review) error {
	if own.Confirmed {
		return nil
	}
	var f *fault.Error
	switch {
	case review == connectors.ReviewNew:
		f = fault.Errorf(fault.Conflict, "The tool %q is new and has not been accepted. Confirm that you want to run it.", t.Name)
	case review == connectors.ReviewChanged:
		f = fault.Errorf(fault.Conflict, "The tool %q changed and has not been accepted again. Confirm that you want to run it.", t.Name)
	case isDestructive(t):
		f = fault.Errorf(fault.Conflict, "The tool %q may change or delete data. Confirm that you want to run it.", t.Name)
	default:
		return nil
	}
	f.Code = "confirmation_required"
	return f.WithType(TypeConfirmationRequired)
}

func (own OwnCall) newEvent(request CallRequest) store.Event {
	connector := request.Tool.Connector.Connector
	event := own.Actor.Event("tool.try", connector.Slug+"/"+request.Tool.Name)
	event.Detail = map[string]any{"tool_call_id": request.ID.String(), "confirmed": own.Confirmed}
	if slug := request.View.Agent.Slug; slug != "" {
		event.Detail["account"] = slug
	}
	return event
}

// recheckOwnTool loads the tool of an own call again. It refuses a definition that the caller has not seen.
func (z *authorizer) recheckOwnTool(ctx context.Context, a *activeCall) error {
	before := a.request.View
	var connector connectors.Connector
	var tool connectors.Tool
	err := z.o.Store.Retry(ctx, a.request.Wait, func(ctx context.Context) error {
		return z.o.Store.Tenant(before.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
			if connector, err = tx.Connectors().Get(ctx, connectors.Ref(a.connector.Connector.ID.String())); err != nil {
				return err
			}
			tool, err = tx.Tools().Get(ctx, connector.ID, a.request.Tool.Name)
			return err
		})
	})
	if err != nil {
		return z.explainer.explainError(ctx, before, a.connector, err)
	}
	view, current := agentview.NewOwnTool(before.Tenant, connector, tool, before.Agent)
	switch {
	case current.BlockedBy != "":
		return blockedRefusal(current)
	case current.Hash != a.request.Tool.Hash:
		return &RefusalError{Code: CodeHeld, Sentence: "The tool changed meanwhile. Look at its definition, and call it again."}
	}
	request := *a.request
	current.Connector.Grant.Accounts, current.Connector.Account = a.connector.Grant.Accounts, a.connector.Account // another choice does not change the call
	request.View, request.Tool = view, current
	a.request, a.connector = &request, current.Connector
	return nil
}
