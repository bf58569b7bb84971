package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// toolTry is a call of a tool by an admin for themselves.
type toolTry struct {
	Arguments map[string]json.RawMessage `json:"arguments,omitempty" doc:"As the tool's input schema wants them."`
	Agent     *string                    `json:"agent,omitempty" doc:"With this agent's credential, by id or slug. Needed where each agent has its own, and refused elsewhere."`
	Confirm   bool                       `json:"confirm,omitempty" doc:"true: call a tool, too, that may change or delete data (no annotation says otherwise), or that waits for acceptance. Without it such a call is 409 with the code confirmation_required."`
	TimeoutMS int                        `json:"timeout_ms,omitempty" minimum:"0" maximum:"300000" doc:"For so many milliseconds the server may take, at most the connector's timeout_ms; 0: those."`
}

type tryToolInput struct {
	ToolPath
	ResultFormat
	JSON requestBody[toolTry]
}

const aboutTryTool = `Calls a tool as the caller themselves, before any agent was granted it: by its current definition, with the connector's credential, under the connector's
limits and the quotas of tool and tenant. No other person is asked. The call is in the history without an agent, with its caller, and in the audit log as tool.try. The answer is as of a call as an agent.`

func (h *Handler) mountToolTry() {
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/tools/{name}/call", id: "tryTool", tag: "Tool calls",
		summary: "Call a tool without an agent", description: aboutTryTool, permission: connectors.PermManage, status: http.StatusCreated,
	}, h.tryTool)
}

func (h *Handler) tryTool(ctx context.Context, actor auth.Actor, in *tryToolInput) (*response[toolCallJSON], error) {
	own := toolcall.OwnCall{Actor: actor, Connector: in.ref(), Tool: in.Tool, Source: connectors.SourceAPI}
	if err := h.requireTool(ctx, own); err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	own.Arguments, err = toolCallCreate{Arguments: doc.Arguments}.rawArguments()
	if err != nil {
		return nil, err
	}
	own.Confirmed, own.Timeout = doc.Confirm, time.Duration(doc.TimeoutMS)*time.Millisecond
	if doc.Agent != nil {
		own.Account = connectors.Ref(*doc.Agent)
	}
	call, err := h.calls.RunOwnCall(ctx, own, callWait)
	if bad, ok := errors.AsType[*toolcall.InvalidArgumentsError](err); ok {
		err = fault.InvalidFields(fault.Field{Location: "arguments", Message: bad.Sentence})
	}
	if err != nil {
		return nil, err
	}
	return newCallResponse(call, in.ResultFormat), nil
}

// requireTool fails with NotFound before the body is read.
func (h *Handler) requireTool(ctx context.Context, own toolcall.OwnCall) error {
	return h.store.Tenant(own.Actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, own.Connector)
		if err != nil {
			return err
		}
		_, err = tx.Tools().Get(ctx, c.ID, own.Tool)
		return err
	})
}
