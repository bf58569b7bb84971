package toolcall

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/history"
	"patchbay/internal/mcp"
)

// recordTask bounds how long the first word of a task waits for the database.
const recordTask = 15 * time.Second

// handOutTask is a task under our id. The call goes on with it, without this process.
func (a *attempt) handOutTask(ctx context.Context, t *mcp.Task) (json.RawMessage, error) {
	if asked, _ := member(t.Raw, "inputRequests"); asked != nil {
		if err := askable(t.Raw, a.order.Client, a.reach.Connector); err != nil {
			return nil, err
		}
	}
	handle, err := a.sealHandle(a.order.View, purposeTask, task{ID: t.ID, Connector: a.reach.Connector.ID, Call: a.call.ID})
	if err != nil {
		return nil, err
	}
	raw := withMember(t.Raw, "taskId", handle)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTask)
	defer cancel()
	a.o.History.Written(ctx) // waits for the database
	return raw, a.o.Store.Tenant(a.order.View.Tenant.ID).SaveCallTask(ctx, a.call.ID, kept(a.order.View, raw), textOf(handle))
}

// TaskRequest sends tasks/get, tasks/update or tasks/cancel of a task that a call's outcome named. params are the client's, with our
// id. An id that is not this agent's is a *BadArguments. What a task asks for goes to a client that says that it answers it.
func (c *Caller) TaskRequest(ctx context.Context, v *access.View, client Client, method string, params json.RawMessage) (json.RawMessage, error) {
	if !c.underWay.enter(v.Agent.ID, mostUnderWay) {
		return nil, tooMany()
	}
	defer c.underWay.leave(v.Agent.ID)
	return c.taskRequest(ctx, v, client, method, params)
}

func (c *Caller) taskRequest(ctx context.Context, v *access.View, client Client, method string, params json.RawMessage) (json.RawMessage, error) {
	handle, _ := member(params, "taskId")
	var t task
	if handle == nil || ambiguous(params) || !c.openHandle(v, purposeTask, handle, &t) { // of two ids the server could take the other
		return nil, &BadArguments{Sentence: "There is no such task."}
	}
	q := Query{View: v, Method: method}
	q.Wait = client.Wait
	if t.ID == "" {
		return c.approvalTask(ctx, q, t, handle)
	}
	at := slices.IndexFunc(v.Reaches, func(r *access.Reach) bool { return r.Connector.ID == t.Connector })
	if at < 0 {
		return nil, &Refusal{Code: CodeNotGranted, Sentence: "This agent may not use the connector of this task any more.", CallID: t.Call}
	}
	own, err := json.Marshal(t.ID)
	if err != nil {
		return nil, err
	}
	here, err := c.enter(ctx, newCallID())
	if err != nil {
		return nil, err
	}
	defer here.leave()
	ctx = here
	q.Reach = v.Reaches[at]
	if err := c.hurried(v, q.Reach); err != nil {
		return nil, err
	}
	var sent *credentials.Usable
	raw, err := c.ask(ctx, &q, withMember(params, "taskId", own), &sent)
	if err != nil {
		return nil, err
	}
	if asked, _ := member(raw, "inputRequests"); asked != nil {
		if err := askable(raw, client, q.Reach.Connector); err != nil {
			return nil, err
		}
	}
	if id, _ := member(raw, "taskId"); id != nil {
		raw = withMember(raw, "taskId", handle)
	}
	c.recordTask(ctx, q.View, t, raw)
	return raw, nil
}

// recordTask notes how a task is, and its end as that of the call. The answer does not depend on it.
func (c *Caller) recordTask(ctx context.Context, v *access.View, t task, raw json.RawMessage) {
	var said struct {
		Status string
		Result struct {
			Content           json.RawMessage
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	if json.Unmarshal(raw, &said) != nil || said.Status == "" {
		return
	}
	door := c.o.Store.Tenant(v.Tenant.ID)
	call := connectors.ToolCall{ID: t.Call, Task: raw, Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK, ResponseBytes: int64(len(raw))}
	switch said.Status {
	case "completed":
		call.Content, call.Structured = said.Result.Content, said.Result.StructuredContent
		if said.Result.IsError {
			call.Status, call.Outcome, call.IsError = connectors.CallError, connectors.OutcomeToolError, true
		}
	case "failed":
		call.Status, call.Outcome, call.ErrorCode, call.ErrorMessage = connectors.CallError, connectors.OutcomeRPCError, "task_failed", "The task failed."
	case "cancelled":
		call.Status, call.Outcome = connectors.CallCancelled, connectors.OutcomeCancelled
	default:
		c.logUnsaved(ctx, door.SaveCallTask(ctx, t.Call, kept(v, raw), ""))
		return
	}
	call.Task = kept(v, withMember(raw, "result", json.RawMessage("null")))
	history.Keep(&call, v.Tenant.CallHistory)
	c.logUnsaved(ctx, c.endTask(ctx, v.Tenant.ID, call))
}

// endTask puts the end of a task on record, and tells of it who counts ends.
func (c *Caller) endTask(ctx context.Context, t connectors.TenantID, call connectors.ToolCall) error {
	ended, err := c.o.Store.Tenant(t).EndCallTask(ctx, call)
	if ended {
		c.tellEnded(ctx, t, call.ID)
	}
	return err
}

// tellEnded tells of a call whose end was written by itself, and not with its history.
func (c *Caller) tellEnded(ctx context.Context, t connectors.TenantID, id connectors.ToolCallID) {
	call, err := c.o.Store.Tenant(t).ToolCall(ctx, id)
	if err != nil {
		return
	}
	c.giveBackAsked(ctx, t, call)
	c.o.History.Tell(t, call)
	if c.o.Ended != nil {
		c.o.Ended(call)
	}
}

// kept is what the history keeps of a task's state.
func kept(v *access.View, raw json.RawMessage) []byte {
	call := connectors.ToolCall{Structured: raw}
	history.Keep(&call, v.Tenant.CallHistory)
	return call.Structured
}
