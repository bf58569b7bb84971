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
	Arguments map[string]json.RawMessage `json:"arguments,omitempty" doc:"Arguments that match the tool's input schema."`
	Agent     *string                    `json:"agent,omitempty" doc:"The agent, by id or slug, whose credential to use. Required if each agent has its own; otherwise not allowed."`
	Confirm   bool                       `json:"confirm,omitempty" doc:"true: also call tools that may change or delete data, as their annotations do not exclude it, or that wait for acceptance. Otherwise 409 with code confirmation_required."`
	TimeoutMS int                        `json:"timeout_ms,omitempty" minimum:"0" maximum:"300000" doc:"Time limit for the server, at most the connector's timeout_ms. 0: that."`
}

type tryToolInput struct {
	ToolPath
	ResultFormat
	JSON requestBody[toolTry]
}

const aboutTryTool = `Calls a tool as the caller, without a grant: by its current definition, with the connector's credential, within the connector's limits and the
quotas of the tool and tenant. No approval is needed. Recorded in the call history without an agent, and audited as tool.try. The response is as of callTool.`

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
