package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// A client of 2025-11-25 asks for a task in a call, polls it, and fetches the result by tasks/result, during which it
// answers the server's requests. Its tasks are the same ones, in another form: the server's, of either revision; a call
// that waits for approval; or a stored result, if the server made no task.

// handshakeTask is a task in the form of 2025-11-25.
type handshakeTask struct {
	TaskID       json.RawMessage `json:"taskId"`
	Status       string          `json:"status"`
	Message      string          `json:"statusMessage,omitempty"`
	CreatedAt    time.Time       `json:"createdAt"`
	UpdatedAt    time.Time       `json:"lastUpdatedAt"`
	TTL          *int64          `json:"ttl"` // milliseconds; nil: unknown
	PollInterval *int64          `json:"pollInterval,omitempty"`
}

const taskStatusMethod = "notifications/tasks/status"

// Statuses of a task.
const (
	taskWorking   = "working"
	taskInput     = "input_required"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

func (t handshakeTask) isEnded() bool { return t.Status != taskWorking && t.Status != taskInput }

// toHandshakeTask converts a task from the form of the extension. began is used where the server says no time.
func toHandshakeTask(raw json.RawMessage, began time.Time) handshakeTask {
	text := func(name string) (s string) {
		value, _ := findMember(raw, name)
		return parseString(value)
	}
	number := func(name string) (n *int64) {
		value, _ := findMember(raw, name)
		var read float64
		if value == nil || string(value) == "null" || json.Unmarshal(value, &read) != nil || read < 0 || read > 1<<53 {
			return nil
		}
		return new(int64(read))
	}
	at := func(name string, otherwise time.Time) time.Time {
		if read, err := time.Parse(time.RFC3339, text(name)); err == nil {
			return read
		}
		return otherwise
	}
	t := handshakeTask{Status: text("status"), Message: text("statusMessage"), TTL: number("ttlMs"), PollInterval: number("pollIntervalMs")}
	t.TaskID, _ = findMember(raw, "taskId")
	t.CreatedAt = at("createdAt", began)
	t.UpdatedAt = at("lastUpdatedAt", t.CreatedAt)
	switch t.Status {
	case taskWorking, taskInput, taskFailed, taskCancelled:
	case taskCompleted:
		result, _ := findMember(raw, "result")
		if isError, _ := findMember(result, "isError"); string(isError) == "true" {
			t.Status = taskFailed
		}
	default:
		t.Status = taskWorking
	}
	return t
}

// formatHandshakeTask writes a task as the result of tasks/get or tasks/cancel.
func formatHandshakeTask(t handshakeTask) (json.RawMessage, error) { return json.Marshal(t) }

// formatCreatedTask writes the result of a call that became a task. A task begins as working.
func formatCreatedTask(raw json.RawMessage, began time.Time) (json.RawMessage, error) {
	t := toHandshakeTask(raw, began)
	t.Status = taskWorking
	return json.Marshal(map[string]handshakeTask{"task": t})
}

// beganAt is when the call of a task began, by its id.
func (t taskHandle) beganAt() time.Time {
	seconds, nanoseconds := t.Call.Time().UnixTime()
	return time.Unix(seconds, nanoseconds).UTC()
}

// HandshakeTask serves tasks/get, tasks/result and tasks/cancel of a client of 2025-11-25. It is like TaskRequest.
// tasks/result waits for the end of the task, for an hour at most.
func (c *Executor) HandshakeTask(ctx context.Context, v *agentview.View, client Client, method string, params json.RawMessage) (json.RawMessage, error) {
	if !c.limits.inFlight.TryAcquire(v.Agent.ID) {
		return nil, tooManyCallsRefusal()
	}
	defer c.limits.inFlight.Release(v.Agent.ID)
	client.HandshakeTasks = true
	t, handle, err := c.tasks.openTask(v, params)
	if err != nil {
		return nil, err
	}
	r := handshakeRequest{tasks: c.tasks, view: v, client: client, task: t, handle: handle}
	switch method {
	case "tasks/get":
		return r.loadFormatted(ctx)
	case "tasks/cancel":
		return r.cancelTask(ctx)
	case "tasks/result":
		return r.awaitResult(ctx)
	}
	return nil, unknownTaskMethod(method)
}

// handshakeRequest is a request about a task by a client of 2025-11-25.
type handshakeRequest struct {
	tasks  *taskRequests
	view   *agentview.View
	client Client
	task   taskHandle
	handle json.RawMessage
}

// sendRequest sends a request of the extension, and returns its result.
func (r *handshakeRequest) sendRequest(ctx context.Context, method string) (json.RawMessage, error) {
	return r.tasks.sendTaskRequest(ctx, r.view, r.client, method, withMember([]byte("{}"), "taskId", r.handle))
}

// loadTask returns the task in both forms. A task that was cancelled stays so, whatever its server says.
func (r *handshakeRequest) loadTask(ctx context.Context) (raw json.RawMessage, t handshakeTask, err error) {
	call, err := r.tasks.o.Store.Tenant(r.view.Tenant.ID).Calls().Get(ctx, r.task.Call)
	if err == nil && call.Status == connectors.CallCancelled {
		t := r.tasks.handles.toListedTask(r.view, call)
		t.TaskID = r.handle
		return nil, t, nil
	}
	if raw, err = r.sendRequest(ctx, "tasks/get"); err != nil {
		return nil, t, err
	}
	return raw, toHandshakeTask(raw, r.task.beganAt()), nil
}

func (r *handshakeRequest) loadFormatted(ctx context.Context) (json.RawMessage, error) {
	_, t, err := r.loadTask(ctx)
	if err != nil {
		return nil, err
	}
	return formatHandshakeTask(t)
}

// cancelTask cancels a task that has not ended.
func (r *handshakeRequest) cancelTask(ctx context.Context) (json.RawMessage, error) {
	_, t, err := r.loadTask(ctx)
	if err != nil {
		return nil, err
	}
	if t.isEnded() {
		return nil, &InvalidArgumentsError{Sentence: fmt.Sprintf("The task can't be cancelled: its status is %q.", t.Status)}
	}
	if _, err := r.sendRequest(ctx, "tasks/cancel"); err != nil {
		return nil, err
	}
	t.Status, t.Message, t.UpdatedAt = taskCancelled, "The client cancelled the task.", r.tasks.o.Now().UTC()
	if r.task.ID != "" {
		state, _ := json.Marshal(map[string]any{"status": t.Status, "createdAt": t.CreatedAt, "lastUpdatedAt": t.UpdatedAt, "ttlMs": t.TTL}) // it always marshals
		err = r.tasks.o.Store.RetryStarted(context.WithoutCancel(ctx), func(ctx context.Context) error {
			return r.tasks.recorder.finishTask(ctx, r.view.Tenant.ID, connectors.ToolCall{
				ID: r.task.Call, Task: state, Status: connectors.CallCancelled, Outcome: connectors.OutcomeCancelled,
				ErrorCode: string(CodeCancelled), ErrorMessage: "The client cancelled this call.",
			})
		})
		if err != nil {
			return nil, unavailableRefusal(err, r.task.Call)
		}
	}
	return formatHandshakeTask(t)
}

// awaitResult waits for the end of the task, and returns what the call would have returned.
func (r *handshakeRequest) awaitResult(ctx context.Context) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxCallTime, errTimeout)
	defer cancel()
	ctx, end := r.tasks.results.beginWait(ctx, r.task.Call)
	defer end()
	if r.task.ID != "" {
		return r.awaitUpstream(ctx)
	}
	woken, unsubscribe := r.tasks.approvals.waiters.subscribe(r.task.Call)
	defer unsubscribe()
	poll := time.NewTicker(waitPollInterval)
	defer poll.Stop()
	for {
		raw, t, err := r.loadTask(ctx)
		switch {
		case err != nil:
			return nil, err
		case t.isEnded():
			return r.toResult(raw)
		case r.tasks.running.isStopped():
			return nil, stoppingRefusal()
		}
		select {
		case <-woken:
		case <-poll.C:
		case <-ctx.Done():
			return nil, r.waitError(ctx)
		}
	}
}

// resultWaits are the requests of this process that wait for a task's result. The zero value works.
type resultWaits struct {
	mu     sync.Mutex
	byTask map[connectors.ToolCallID]*context.CancelCauseFunc // guarded by mu
}

// errNewerWait is the cause of a wait that a newer one replaced.
var errNewerWait = errors.New("a newer request waits for the task")

// beginWait ends an older wait for the same task: its client may be gone, and would get the server's requests.
func (w *resultWaits) beginWait(ctx context.Context, id connectors.ToolCallID) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	own := &cancel
	w.mu.Lock()
	defer w.mu.Unlock()
	if older := w.byTask[id]; older != nil {
		(*older)(errNewerWait)
	}
	if w.byTask == nil {
		w.byTask = map[connectors.ToolCallID]*context.CancelCauseFunc{}
	}
	w.byTask[id] = own
	return ctx, func() {
		cancel(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.byTask[id] == own {
			delete(w.byTask, id)
		}
	}
}

// waitError is the error of a wait that ended before the task.
func (r *handshakeRequest) waitError(ctx context.Context) error {
	return &RefusalError{
		Code: CodeTimeout, CallID: r.task.Call, RetryAfter: time.Second, Err: context.Cause(ctx),
		Sentence: "The task is still running. Ask for its result again.",
	}
}

// toResult returns the result in an ended task in the form of the extension.
func (r *handshakeRequest) toResult(raw json.RawMessage) (json.RawMessage, error) {
	if result, _ := findMember(raw, "result"); result != nil {
		return mcp.WithRelatedTask(result, r.handle), nil
	}
	var ended struct{ Error *mcp.RPCError }
	if json.Unmarshal(raw, &ended) == nil && ended.Error != nil {
		return nil, &mcp.Error{Phase: mcp.PhaseCall, Reason: mcp.ReasonRPC, RPCCode: ended.Error.Code, RPC: ended.Error}
	}
	return nil, &RefusalError{Code: CodeCancelled, CallID: r.task.Call, Sentence: "The task was cancelled and has no result."}
}

// awaitUpstream follows a task of a server. The client answers its requests, and is told its states.
func (r *handshakeRequest) awaitUpstream(ctx context.Context) (json.RawMessage, error) {
	raw, t, err := r.loadTask(ctx)
	if err != nil {
		return nil, err
	}
	if t.isEnded() {
		return r.toResult(raw)
	}
	connector, err := findTaskConnector(r.view, r.task)
	if err != nil {
		return nil, err
	}
	callCtx, err := r.tasks.running.beginCall(ctx, NewCallID())
	if err != nil {
		return nil, err
	}
	defer callCtx.endCall()
	ctx = callCtx
	q := UpstreamRequest{View: r.view, Connector: connector, Client: Client{Wait: r.client.Wait, Caller: r.client.Caller}}
	taskEnd, err := r.tasks.newTaskEnd(ctx, &q, r.task)
	if err != nil {
		return nil, err
	}
	if q.taskEnd = taskEnd; q.taskEnd != nil {
		if err := q.checkEnd(); err != nil {
			return nil, err
		}
		r.client.refuseInputAfter(taskEnd)
	}
	a := &activeCall{
		request: &CallRequest{View: r.view, Client: r.client}, connector: connector, call: connectors.ToolCall{ID: r.task.Call},
		taskSession: r.task.taskSession, taskHandle: r.handle,
	}
	first := &mcp.Task{
		ID: r.task.ID, Status: t.Status, Message: t.Message, Raw: withMember(raw, "taskId", quoteString(r.task.ID)), IsHandshake: r.task.IsHandshake,
	}
	first.InputRequests, _ = findMember(raw, "inputRequests")
	if t.PollInterval != nil {
		first.PollInterval = time.Duration(min(*t.PollInterval, maxTaskPoll.Milliseconds())) * time.Millisecond
	}
	result, err := r.tasks.sender.followTask(ctx, a, r.newRelayCall(ctx), first)
	if a.taskUnknown {
		r.tasks.recorder.recordExpired(ctx, r.view, r.task)
	}
	if last := a.lastTask; last.Status != taskWorking && last.Status != taskInput {
		q := UpstreamRequest{View: r.view, Connector: connector}
		recorded, recordErr := r.tasks.recordState(context.WithoutCancel(ctx), &q, r.task, withMember(last.Raw, "taskId", r.handle))
		if err == nil && recordErr != nil {
			return nil, recordErr
		}
		if err == nil {
			return r.toResult(recorded)
		}
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, r.waitError(ctx)
	case err != nil:
		return nil, err
	}
	return mcp.WithRelatedTask(withholdSkillsOf(connector, result).Raw, r.handle), nil
}

// newRelayCall has the callbacks of the client that waits.
func (r *handshakeRequest) newRelayCall(ctx context.Context) (call mcp.Call) {
	client := &r.client
	if client.Progress != nil {
		call.Progress = func(n mcp.ProgressNotification) { client.Progress(progressParams(n)) }
	}
	if client.SendRequest != nil {
		call.Answer = client.newAnswer(ctx)
	}
	return call
}

// newAnswer returns a function that lets the client answer the server's requests that it declares.
func (c *Client) newAnswer(ctx context.Context) func(mcp.InputRequest) (json.RawMessage, error) {
	caps := parseCapabilities(c.Capabilities)
	return func(r mcp.InputRequest) (json.RawMessage, error) {
		if !caps.canAnswer(r.Method, r.Params) {
			return nil, errUnsupportedRequest
		}
		return c.SendRequest(ctx, r)
	}
}

// notifyState tells a client of 2025-11-25 that waits for the task its state.
func (a *activeCall) notifyState(t *mcp.Task) {
	if a.taskHandle == nil || a.request.Message == nil {
		return
	}
	state := toHandshakeTask(withMember(t.Raw, "taskId", a.taskHandle), taskHandle{Call: a.call.ID}.beganAt())
	if params, err := formatHandshakeTask(state); err == nil {
		a.request.Message(taskStatusMethod, params)
	}
}

// HandshakeTasks lists the agent's tasks of the last day for a client of 2025-11-25. An invalid cursor is an
// *InvalidArgumentsError.
func (c *Executor) HandshakeTasks(ctx context.Context, v *agentview.View, client Client, cursor string) (json.RawMessage, error) {
	var list store.List[connectors.ToolCall]
	err := c.o.Store.Retry(ctx, client.Wait, func(ctx context.Context) (err error) {
		list, err = c.o.Store.Tenant(v.Tenant.ID).Calls().AgentTasks(ctx, v.Agent.ID, c.o.Now().Add(-maxTaskTTL), store.Page{Cursor: cursor, Limit: taskPage})
		return err
	})
	switch {
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.Malformed):
		return nil, &InvalidArgumentsError{Sentence: "The cursor is invalid. List from the start."}
	case err != nil:
		return nil, unavailableRefusal(err, connectors.ToolCallID{})
	}
	page := struct {
		Tasks []handshakeTask `json:"tasks"`
		Next  string          `json:"nextCursor,omitempty"`
	}{Tasks: []handshakeTask{}, Next: list.Next}
	for _, call := range list.Items {
		if t := c.tasks.handles.toListedTask(v, call); !c.tasks.isExpired(t) {
			page.Tasks = append(page.Tasks, t)
		}
	}
	return json.Marshal(page)
}

// taskPage is the number of tasks in a page of tasks/list.
const taskPage = 50

// isExpired reports whether the time for which a task is kept is over.
func (tr *taskRequests) isExpired(t handshakeTask) bool {
	return t.TTL != nil && tr.o.Now().After(t.CreatedAt.Add(time.Duration(*t.TTL)*time.Millisecond))
}

// toListedTask is the task of a call, as the history knows it.
func (h *handleSealer) toListedTask(v *agentview.View, call connectors.ToolCall) handshakeTask {
	t := toHandshakeTask(call.Task, call.StartedAt)
	t.TaskID = quoteString(call.TaskHandle)
	var handle taskHandle
	if h.openHandle(v, purposeTask, t.TaskID, &handle) && handle.Stored != nil {
		t.TTL = new(handle.Stored.TTL.Milliseconds())
	}
	if call.CompletedAt != nil {
		t.UpdatedAt = *call.CompletedAt
	}
	switch {
	case call.Status == connectors.CallRunning:
		if t.Status != taskInput {
			t.Status = taskWorking
		}
	case call.Status == connectors.CallPendingApproval:
		t.Status, t.Message = taskWorking, "Waiting for approval"
	case call.Status == connectors.CallSuccess:
		t.Status = taskCompleted
	case call.Status == connectors.CallCancelled, call.ErrorCode == codeApprovalLapsed:
		t.Status, t.Message = taskCancelled, call.ErrorMessage
	default:
		t.Status = taskFailed
		if call.ErrorMessage != "" {
			t.Message = call.ErrorMessage
		}
	}
	return t
}

// codeApprovalLapsed is the error code of a call about which no person decided in time.
const codeApprovalLapsed = "approval_lapsed"
