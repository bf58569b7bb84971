package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

const (
	// Poll intervals: the default, and the bounds of what a server asks for. A client request stays open
	// meanwhile.
	defaultTaskPoll = time.Second
	minTaskPoll     = 250 * time.Millisecond
	maxTaskPoll     = 10 * time.Second
	// cancelTaskTimeout bounds tasks/cancel for an abandoned task.
	cancelTaskTimeout = 2 * time.Second
)

// awaitTask polls a server's task for a client without task support, within the call's timeout. Task states
// become progress notifications. If the call ends first, the task is cancelled.
func (cs *callSender) awaitTask(ctx context.Context, a *activeCall, call mcp.Call, t *mcp.Task) (*mcp.Result, error) {
	ctx, stop := cs.withTaskTimeout(ctx, a)
	defer stop()
	cs.saveAwaitedTask(ctx, a, t)
	defer t.FollowProgress(call.Progress)()
	result, err := cs.followTask(ctx, a, call, t)
	if err != nil {
		cs.abandonTask(ctx, a, t.ID)
	}
	return result, err
}

// withTaskTimeout bounds the wait by the call's timeout. With progress the watchdog applies, and maxCallTime.
func (cs *callSender) withTaskTimeout(ctx context.Context, a *activeCall) (context.Context, context.CancelFunc) {
	if a.request.Progress != nil || a.request.SendRequest != nil {
		return context.WithTimeoutCause(ctx, maxCallTime, errTimeout)
	}
	remaining := a.call.StartedAt.Add(a.callTimeout()).Sub(cs.o.Now())
	if a.call.ApprovedBy != "" { // StartedAt was when approval was requested
		remaining = a.callTimeout()
	}
	return context.WithTimeoutCause(ctx, remaining, errTimeout)
}

// saveAwaitedTask stores the first state of a task for which this process waits, so that it is among the tasks. A failure is
// only logged.
func (cs *callSender) saveAwaitedTask(ctx context.Context, a *activeCall, t *mcp.Task) {
	a.lastTask = t
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	cs.o.History.Flush(ctx)
	cs.o.logUnsaved(ctx, cs.o.Store.Tenant(a.request.View.Tenant.ID).Calls().SaveCallTask(ctx, a.call.ID, store.CallTask{
		State: a.request.trimTask(t), Attached: true,
	}))
}

// trimTask reduces a task to what the history may store. It has neither the server's id of the task nor the result.
func (request *CallRequest) trimTask(t *mcp.Task) []byte {
	raw := withMember(t.Raw, "taskId", json.RawMessage(`""`))
	if len(t.Result) > 0 {
		raw = withMember(raw, "result", json.RawMessage("null"))
	}
	return trimForHistory(request.View, raw)
}

// followTask polls a task until it ends, and returns its result.
func (cs *callSender) followTask(ctx context.Context, a *activeCall, call mcp.Call, t *mcp.Task) (*mcp.Result, error) {
	id, progress, relay := t.ID, taskProgress{saver: cs.progress}, taskRelay{sender: cs, a: a, call: call, id: t.ID}
	defer relay.stopRelay()
	for rounds := 0; ; {
		a.lastTask = t
		switch t.Status {
		case "completed":
			if resultType, _ := findMember(t.Result, "resultType"); resultType != nil && string(resultType) != `"complete"` {
				return nil, a.taskRefusal("completed the task that it made of this call with no result.")
			}
			return taskResult(t), nil
		case "failed":
			return nil, a.taskError(t)
		case "cancelled":
			return nil, a.taskRefusal("gave up the task that it made of this call.")
		case "input_required":
			if t.IsHandshake && relay.isRunning() {
				break
			}
			if rounds++; rounds > maxInputRequests {
				return nil, a.taskRefusal("asks for more input again and again.")
			}
			if err := relay.giveInput(ctx, t); err != nil {
				return nil, err
			}
		}
		progress.reportProgress(a, t)
		var err error
		if t, err = cs.pollTask(ctx, a, id, t); err != nil {
			return nil, cs.explainer.explainError(ctx, a.request.View, a.timedConnector(), err)
		}
	}
}

// pollTask returns the task after one interval. Retryable failures are retried.
func (cs *callSender) pollTask(ctx context.Context, a *activeCall, id string, t *mcp.Task) (*mcp.Task, error) {
	interval := t.PollInterval
	if interval == 0 {
		interval = defaultTaskPoll
	}
	pause := time.NewTicker(min(max(interval, minTaskPoll), maxTaskPoll))
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		err := cs.withTaskSession(ctx, a, func(ctx context.Context, s *mcp.Session) (err error) {
			t, err = s.Task(ctx, a.request.View.Tenant.ID.UUID, id)
			return err
		})
		a.taskUnknown = isTaskUnknown(err)
		if failure, ok := err.(*mcp.Error); !ok || !failure.Retryable { //nolint:errorlint // package mcp returns it bare
			return t, err
		}
	}
}

// withTaskSession sends a request about a task, with the call's account, whatever its name is by now.
func (cs *callSender) withTaskSession(ctx context.Context, a *activeCall, do func(context.Context, *mcp.Session) error) error {
	w := cs.newTaskSessionRequest(a.request.View, a.connector, a.taskSession, Client{Caller: a.request.Caller})
	w.Retryable, w.ByID = true, a.taskSession.hasAccount()
	return cs.withSession(ctx, w, &a.credential, func(s *mcp.Session) error { return do(ctx, s) })
}

// answerTask asks the client for a task's input. A client without Answer cannot give any.
func (cs *callSender) answerTask(ctx context.Context, a *activeCall, call mcp.Call, t *mcp.Task) error {
	var requests map[string]struct {
		Method string
		Params json.RawMessage
	}
	if call.Answer == nil || len(t.InputRequests) > maxInputBytes || json.Unmarshal(t.InputRequests, &requests) != nil || len(requests) > maxInputRequests {
		return a.taskRefusal("asked for input, and the client gave none.")
	}
	answers := make(map[string]json.RawMessage, len(requests))
	for key, request := range requests {
		answer, err := call.Answer(mcp.InputRequest{Method: request.Method, Params: mcp.WithRelatedTask(request.Params, a.taskHandle)})
		if err != nil {
			return cs.explainer.explainError(ctx, a.request.View, a.connector, &mcp.Error{Phase: mcp.PhaseCall, Reason: mcp.ReasonInput, Err: err})
		}
		answers[key] = answer
	}
	responses, err := json.Marshal(answers)
	if err == nil {
		err = cs.withTaskSession(ctx, a, func(ctx context.Context, s *mcp.Session) error { return s.AnswerTask(ctx, t.ID, responses) })
	}
	if err != nil {
		return cs.explainer.explainError(ctx, a.request.View, a.timedConnector(), err)
	}
	return nil
}

func (cs *callSender) abandonTask(ctx context.Context, a *activeCall, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTaskTimeout)
	defer cancel()
	_ = cs.withTaskSession(ctx, a, func(ctx context.Context, s *mcp.Session) error { return s.CancelTask(ctx, id) }) // on failure the server ends the task by its TTL
}

// taskProgress reports each new state of a task to the client and the history.
type taskProgress struct {
	saver *progressSaver
	last  []byte
}

func (p *taskProgress) reportProgress(a *activeCall, t *mcp.Task) {
	if bytes.Equal(p.last, t.Raw) {
		return
	}
	p.last = bytes.Clone(t.Raw)
	a.notifyState(t)
	if a.resetTimeout != nil {
		a.resetTimeout()
	}
	if a.request.Progress != nil {
		a.sentProgress.sendState(a.request.Progress, t.Message)
	}
	p.saver.queueTask(a, t)
}

// taskResult is the call's result from a completed task.
func taskResult(t *mcp.Task) *mcp.Result {
	result := &mcp.Result{Raw: t.Result}
	if len(result.Raw) == 0 {
		result.Raw = json.RawMessage(`{"content":[]}`)
	}
	result.Content, _ = findMember(result.Raw, "content")
	result.Structured, _ = findMember(result.Raw, "structuredContent")
	isError, _ := findMember(result.Raw, "isError")
	result.IsError = string(isError) == "true"
	return result
}

// taskError is the call's error from a failed task.
func (a *activeCall) taskError(t *mcp.Task) error {
	if t.Error != nil && t.Error.Code != 0 {
		return &mcp.Error{Phase: mcp.PhaseCall, Reason: mcp.ReasonRPC, RPCCode: t.Error.Code, RPC: t.Error}
	}
	return a.taskRefusal("made a task of this call, and the task failed.")
}

func (a *activeCall) taskRefusal(reason string) *RefusalError {
	return &RefusalError{Code: CodeUpstream, Sentence: fmt.Sprintf("The server of %q %s", a.connector.Connector.Name, reason)}
}
