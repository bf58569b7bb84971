package toolcall

import (
	"context"
	"encoding/json"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// sealTask seals the task's id and stores the task. The call goes on without this process.
func (rec *callRecorder) sealTask(ctx context.Context, a *activeCall, t *mcp.Task) (json.RawMessage, error) {
	if inputRequests, _ := findMember(t.Raw, "inputRequests"); inputRequests != nil {
		if err := checkInputRequest(t.Raw, a.request.Client, a.connector.Connector); err != nil {
			return nil, err
		}
	}
	handle, err := rec.handles.sealHandle(a.request.View, purposeTask, taskHandle{
		ID: t.ID, Connector: a.connector.Connector.ID, Call: a.call.ID, taskSession: a.taskSession, Session: a.request.StatusSession,
	})
	if err != nil {
		return nil, err
	}
	var account *connectors.CredentialID
	if a.credential != nil {
		account = &a.credential.ID
	}
	raw := withMember(t.Raw, "taskId", handle)
	return raw, rec.o.Store.RetryStarted(context.WithoutCancel(ctx), func(ctx context.Context) error {
		rec.o.History.Flush(ctx)
		a.entry.Detach()
		return rec.o.Store.Tenant(a.request.View.Tenant.ID).Calls().SaveCallTask(ctx, a.call.ID, store.CallTask{
			State: trimForHistory(a.request.View, raw), Handle: parseString(handle), ExpiresAt: taskExpiry(rec.o.Now(), t.TTL), Account: account,
		})
	})
}

// taskRequests are the requests of clients about tasks.
type taskRequests struct {
	o         *Options
	sender    *callSender
	running   *runningCalls
	handles   *handleSealer
	limits    *callLimits
	approvals *approvals
	requests  *requestSender
	recorder  *callRecorder
	results   resultWaits
	questions *taskQuestions
}

// TaskRequest sends tasks/get, tasks/update or tasks/cancel for a task in a call's outcome. params are the
// client's, with the sealed id. An id that is not this agent's is a *InvalidArgumentsError. Input requests go only to a
// client that declares them.
func (c *Executor) TaskRequest(ctx context.Context, v *agentview.View, client Client, method string, params json.RawMessage) (json.RawMessage, error) {
	if !c.limits.inFlight.TryAcquire(v.Agent.ID) {
		return nil, tooManyCallsRefusal()
	}
	defer c.limits.inFlight.Release(v.Agent.ID)
	return c.tasks.sendTaskRequest(ctx, v, client, method, params)
}

func (tr *taskRequests) sendTaskRequest(ctx context.Context, v *agentview.View, client Client, method string, params json.RawMessage) (json.RawMessage, error) {
	t, handle, err := tr.openTask(v, params)
	if err != nil {
		return nil, err
	}
	q := UpstreamRequest{View: v, Method: method}
	q.Wait, q.Caller = client.Wait, client.Caller
	switch {
	case t.Stored != nil:
		return tr.handleStoredTask(ctx, q, t, handle)
	case t.ID == "":
		return tr.approvals.handleApprovalTask(ctx, q, t, handle)
	}
	return tr.sendUpstream(ctx, v, client, taskRequest{method, params, t, handle})
}

// taskRequest is a client's request about a task of a server.
type taskRequest struct {
	method string
	params json.RawMessage // with the sealed id
	task   taskHandle
	handle json.RawMessage
}

// openTask opens the sealed id in a client's params.
func (tr *taskRequests) openTask(v *agentview.View, params json.RawMessage) (t taskHandle, handle json.RawMessage, _ error) {
	handle, _ = findMember(params, "taskId")
	if handle == nil || isAmbiguous(params) || !tr.handles.openHandle(v, purposeTask, handle, &t) { // with two ids the server could read the other one
		return t, nil, &InvalidArgumentsError{Sentence: "No such task."}
	}
	return t, handle, nil
}

// TaskConnector returns the connector of the task that params name; nil: there is none, or the agent may not use it any more.
func (c *Executor) TaskConnector(v *agentview.View, params json.RawMessage) *agentview.ConnectorView {
	t, _, err := c.tasks.openTask(v, params)
	if err != nil {
		return nil
	}
	connector, err := findTaskConnector(v, t)
	if err != nil {
		return nil
	}
	return connector
}

// findTaskConnector returns the connector of a task, if the agent may still use it.
func findTaskConnector(v *agentview.View, t taskHandle) (*agentview.ConnectorView, error) {
	connector := v.ConnectorWith(t.Connector, t.Account)
	if connector == nil {
		return nil, &RefusalError{Code: CodeNotGranted, Sentence: "This agent lost access to this task's connector.", CallID: t.Call, Ask: &WantedAccess{Connector: connectors.Ref(t.Connector.String())}}
	}
	return connector, nil
}

// sendUpstream sends a request to the task's server, and records what the answer says.
func (tr *taskRequests) sendUpstream(ctx context.Context, v *agentview.View, client Client, r taskRequest) (json.RawMessage, error) {
	connector, err := findTaskConnector(v, r.task)
	if err != nil {
		return nil, err
	}
	if err := checkKeptAccount(r.task.Account, connector); err != nil {
		return nil, err
	}
	upstreamID, err := json.Marshal(r.task.ID)
	if err != nil {
		return nil, err
	}
	callCtx, err := tr.running.beginCall(ctx, NewCallID())
	if err != nil {
		return nil, err
	}
	defer callCtx.endCall()
	ctx = callCtx
	if err := tr.limits.applyRequestLimits(v, connector); err != nil {
		return nil, err
	}
	q := UpstreamRequest{View: v, Connector: connector, Method: r.method, taskSession: r.task.taskSession}
	q.Wait, q.Caller = client.Wait, client.Caller
	if r.method == "tasks/update" {
		if q.taskEnd, err = tr.newTaskEnd(ctx, &q, r.task); err != nil {
			return nil, err
		}
		if err := q.checkEnd(); err != nil {
			return nil, err
		}
	}
	if r.task.IsHandshake {
		if r.method == "tasks/update" {
			return tr.questions.answerQuestion(ctx, &q, r)
		}
		if q.send, err = r.handshakeSender(v); err != nil {
			return nil, err
		}
	}
	var credential *credentials.Credential
	raw, err := tr.requests.sendQuery(ctx, &q, withMember(r.params, "taskId", upstreamID), &credential)
	if err != nil {
		if r.method == "tasks/get" && isTaskUnknown(err) {
			tr.recorder.recordExpired(ctx, v, r.task)
		}
		return nil, err
	}
	if r.task.IsHandshake && r.method == "tasks/get" && !client.HandshakeTasks {
		if raw, err = tr.questions.addQuestion(ctx, &q, r.task, raw); err != nil {
			return nil, err
		}
	}
	if inputRequests, _ := findMember(raw, "inputRequests"); inputRequests != nil && !client.HandshakeTasks {
		if err := checkInputRequest(raw, client, q.Connector.Connector); err != nil {
			return nil, err
		}
	}
	if id, _ := findMember(raw, "taskId"); id != nil {
		raw = withMember(raw, "taskId", r.handle)
	}
	return tr.recordState(ctx, &q, r.task, raw)
}

// handshakeSender sends a request of the extension to a server of 2025-11-25. There is no tasks/update, see taskQuestions.
func (r taskRequest) handshakeSender(v *agentview.View) (func(context.Context, *mcp.Session) (json.RawMessage, error), error) {
	switch r.method {
	case "tasks/get":
		return func(ctx context.Context, s *mcp.Session) (json.RawMessage, error) {
			task, err := s.Task(ctx, v.Tenant.ID.UUID, r.task.ID)
			if err != nil {
				return nil, err
			}
			return task.Raw, nil
		}, nil
	case "tasks/cancel":
		return func(ctx context.Context, s *mcp.Session) (json.RawMessage, error) {
			return json.RawMessage(`{"resultType":"complete"}`), s.CancelTask(ctx, r.task.ID)
		}, nil
	}
	return nil, unknownTaskMethod(r.method)
}

// recordState checks and records a task's state, and returns what the client gets. The result of a task may be refused.
func (tr *taskRequests) recordState(ctx context.Context, q *UpstreamRequest, t taskHandle, raw json.RawMessage) (json.RawMessage, error) {
	raw = withholdSkills(q.Connector, raw, taskBlocks)
	var state taskState
	if isTask := json.Unmarshal(raw, &state) == nil && state.Status != ""; !isTask {
		return raw, nil
	}
	output, err := tr.checkTaskOutput(ctx, q, t, &state)
	if err != nil {
		return nil, err
	}
	tr.recorder.recordTask(ctx, q.View, t, raw, &state, output)
	if output.refusal != nil {
		raw = withMember(raw, "result", toToolResult(output.refusal, ""))
	}
	return raw, nil
}

// taskState is what a task says about its call.
type taskState struct {
	Status string
	Result struct {
		Content           json.RawMessage
		StructuredContent json.RawMessage
		IsError           bool
	}
}

// checkTaskOutput checks the result of a completed task. The tool's name is in the history.
func (tr *taskRequests) checkTaskOutput(ctx context.Context, q *UpstreamRequest, t taskHandle, state *taskState) (outputCheck, error) {
	if state.Status != "completed" {
		return outputCheck{}, nil
	}
	var call connectors.ToolCall
	store := tr.recorder.o.Store
	err := store.Retry(ctx, q.Wait, func(ctx context.Context) (err error) {
		call, err = store.Tenant(q.View.Tenant.ID).Calls().Get(ctx, t.Call)
		return err
	})
	switch {
	case fault.Is(err, fault.NotFound): // the history is older than it is kept
		return outputCheck{}, nil
	case err != nil:
		return outputCheck{}, unavailableRefusal(err, t.Call)
	}
	output := checkOutput(ctx, q.View, q.Connector.Tool(call.Tool), state.Result.StructuredContent, state.Result.IsError)
	if output.refusal != nil {
		output.refusal.CallID = t.Call
	}
	return output, nil
}

// recordTask stores the task's state, and ends the call with it. A failure is only logged.
func (rec *callRecorder) recordTask(ctx context.Context, v *agentview.View, t taskHandle, raw json.RawMessage, state *taskState, output outputCheck) {
	tenant := rec.o.Store.Tenant(v.Tenant.ID)
	call := connectors.ToolCall{ID: t.Call, Task: raw, Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK, ResponseBytes: int64(len(raw))}
	switch state.Status {
	case "completed":
		call.Content, call.Structured = state.Result.Content, state.Result.StructuredContent
		if state.Result.IsError {
			call.Status, call.Outcome, call.IsError = connectors.CallError, connectors.OutcomeToolError, true
		}
		output.recordIn(&call)
	case "failed":
		call.Status, call.Outcome, call.ErrorCode, call.ErrorMessage = connectors.CallError, connectors.OutcomeRPCError, "task_failed", "The task failed."
	case "cancelled":
		call.Status, call.Outcome = connectors.CallCancelled, connectors.OutcomeCancelled
	default:
		rec.o.logUnsaved(ctx, tenant.Calls().SaveCallTask(ctx, t.Call, store.CallTask{State: trimForHistory(v, raw), ExpiresAt: rec.knownUntil(t, raw)}))
		return
	}
	call.Task = trimForHistory(v, withMember(raw, "result", json.RawMessage("null")))
	calllog.ApplyRetention(&call, v.Tenant.CallHistory)
	rec.o.logUnsaved(ctx, rec.finishTask(ctx, v.Tenant.ID, call))
}

// finishTask ends the call of a task, and reports it.
func (rec *callRecorder) finishTask(ctx context.Context, t connectors.TenantID, call connectors.ToolCall) error {
	ended, err := rec.o.Store.Tenant(t).Calls().EndCallTask(ctx, call)
	if ended {
		rec.reportEnded(ctx, t, call.ID)
	}
	return err
}

// trimForHistory reduces a task's state to what the history may store.
func trimForHistory(v *agentview.View, raw json.RawMessage) []byte {
	call := connectors.ToolCall{Structured: raw}
	calllog.ApplyRetention(&call, v.Tenant.CallHistory)
	return call.Structured
}
