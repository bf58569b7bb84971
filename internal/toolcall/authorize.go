package toolcall

import (
	"context"
	"fmt"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// authorizer checks that the agent may call the tool. It refuses, or updates the call to what the database says.
type authorizer struct {
	o         *Options
	explainer *explainer
	validator *validator
}

// checkGrant refuses a call of a disabled agent, or of a tool that is not granted or not served.
func (z *authorizer) checkGrant(a *activeCall) error {
	if !a.request.View.Agent.Enabled {
		return disabledRefusal()
	}
	tool := a.request.Tool
	switch {
	case tool.BlockedBy != "" || !tool.Listed():
		return blockedRefusal(tool)
	case tool.HasEnded():
		return endedToolRefusal(tool)
	}
	return nil
}

// checkToken returns an Unauthenticated fault if the request's token is no longer valid. nil: the request had
// none.
func (z *authorizer) checkToken(ctx context.Context, token *connectors.AgentTokenID, wait *store.WaitBudget) error {
	if token == nil {
		return nil
	}
	var stored store.StoredAgentToken
	err := z.o.Store.Retry(ctx, wait, func(ctx context.Context) (err error) {
		stored, err = z.o.Store.System().Sessions().AgentToken(ctx, *token)
		return err
	})
	expiresAt := stored.Token.ExpiresAt
	if fault.Is(err, fault.NotFound) || err == nil && expiresAt != nil && !expiresAt.After(z.o.Now()) {
		return fault.Errorf(fault.Unauthenticated, "Token expired or revoked.")
	}
	return err
}

// reauthorize checks token, agent, grant and tool again: all may have changed during the wait. It updates the
// order, which decides on approval.
func (z *authorizer) reauthorize(ctx context.Context, a *activeCall) error {
	switch err := z.checkToken(ctx, a.request.Token, a.request.Wait); {
	case fault.Is(err, fault.Unauthenticated):
		return &RefusalError{Code: CodeNotGranted, Sentence: "The call's token expired or was revoked. Sign in again or use another, then repeat the call."}
	case err != nil:
		return z.explainer.explainError(ctx, a.request.View, a.connector, err)
	}
	return z.recheckTool(ctx, a)
}

// recheckTool checks agent, tool and arguments against the database, and updates the order.
func (z *authorizer) recheckTool(ctx context.Context, a *activeCall) error {
	if a.request.isOwn {
		return z.recheckOwnTool(ctx, a)
	}
	view, err := z.loadFreshView(ctx, a.request.View, a.request.Wait)
	if err != nil {
		return z.explainer.explainError(ctx, a.request.View, a.connector, err)
	}
	var tool *agentview.Tool
	if connector := view.ConnectorAs(a.connector); connector != nil {
		tool = connector.Tool(a.request.Tool.Name)
	}
	switch {
	case !view.Agent.Enabled:
		return disabledRefusal()
	case tool == nil:
		return &RefusalError{Code: CodeNotGranted, Sentence: "This agent lost access to the tool.", Ask: wantTool(a.request.Tool)}
	case tool.BlockedBy != "" || !tool.Listed():
		return blockedRefusal(tool)
	}
	if err := z.validator.validateArguments(ctx, a, tool); err != nil {
		return err
	}
	request := *a.request
	request.View, request.Tool = view, tool
	a.request, a.connector = &request, tool.Connector
	a.call.Definition = &tool.Hash
	return nil
}

func (z *authorizer) loadFreshView(ctx context.Context, old *agentview.View, wait *store.WaitBudget) (v *agentview.View, err error) {
	err = z.o.Store.Retry(ctx, wait, func(ctx context.Context) error {
		v, err = z.o.Access.LoadUncached(ctx, old.Tenant.ID, connectors.Ref(old.Agent.ID.String()))
		return err
	})
	return v, err
}

func disabledRefusal() *RefusalError {
	return &RefusalError{Code: CodeNotGranted, Sentence: "This agent is disabled. An admin can enable it."}
}

func blockedRefusal(t *agentview.Tool) *RefusalError {
	connector := t.Connector.Connector.Name
	switch t.BlockedBy {
	case agentview.HeldNotGranted:
		return &RefusalError{
			Code: CodeNotGranted, Sentence: fmt.Sprintf("This agent has no access to the tool %q of %q. An admin can grant it.", t.Name, connector), Ask: wantTool(t),
		}
	case agentview.HeldEnded:
		return endedToolRefusal(t)
	case agentview.HeldReview:
		return &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q changed and is waiting for review.", t.Name, connector)}
	case agentview.BlockedNew:
		return &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q is new and is waiting for review.", t.Name, connector)}
	case agentview.HeldRejected:
		return &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf("An admin rejected the tool %q of %q.", t.Name, connector)}
	case agentview.BlockedMalformed:
		return &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf("The definition of the tool %q of %q is malformed. Admins see why on the connector's page.", t.Name, connector)}
	case agentview.BlockedDisabled:
		if !t.Connector.Connector.Enabled {
			return &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf("The connector %q is disabled. An admin can enable it.", connector)}
		}
		return &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf("The tool %q of %q is disabled. An admin can enable it.", t.Name, connector)}
	default:
		return &RefusalError{Code: CodeHeld, Sentence: fmt.Sprintf("%q no longer offers the tool %q. List the tools again.", connector, t.Name)}
	}
}
