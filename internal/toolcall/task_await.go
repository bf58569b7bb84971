package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/mcp"
)

const (
	// taskPoll is how often a task is asked for whose server does not say how often it likes to be, and mostTaskPoll how seldom at most:
	// somebody holds a request open meanwhile.
	taskPoll      = time.Second
	leastTaskPoll = 250 * time.Millisecond
	mostTaskPoll  = 10 * time.Second
	// taskFarewell bounds how long a server is told that nobody waits for its task any more.
	taskFarewell = 2 * time.Second
)

// awaitTask waits, in the call's time, for a task that the server made of a call whose client takes none: to the client it is a call like
// any other, whose progress is the task's. A task that nobody waits for any more is cancelled.
func (a *attempt) awaitTask(ctx context.Context, call mcp.Call, t *mcp.Task) (*mcp.Result, error) {
	ctx, stop := a.taskTime(ctx)
	defer stop()
	result, err := a.follow(ctx, call, t)
	if err != nil {
		a.giveUpTask(ctx, t.ID)
	}
	return result, err
}

// taskTime is the time of a call whose server says nothing meanwhile. One that does has a watchdog already, and an end all the same.
func (a *attempt) taskTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.order.Progress != nil || a.order.Ask != nil {
		return context.WithTimeoutCause(ctx, patience, errTimeout)
	}
	left := a.call.StartedAt.Add(a.reach.Connector.Timeout).Sub(a.o.Now())
	if a.call.ApprovedBy != "" { // it began when a person was asked
		left = a.reach.Connector.Timeout
	}
	return context.WithTimeoutCause(ctx, left, errTimeout)
}

// follow asks for a task until it has ended.
func (a *attempt) follow(ctx context.Context, call mcp.Call, t *mcp.Task) (*mcp.Result, error) {
	id, told := t.ID, taskProgress{}
	for rounds := 0; ; {
		switch t.Status {
		case "completed":
			if says, _ := member(t.Result, "resultType"); says != nil && string(says) != `"complete"` {
				return nil, a.taskRefusal("completed the task that it made of this call with no result.")
			}
			return taskResult(t), nil
		case "failed":
			return nil, a.taskFailed(t)
		case "cancelled":
			return nil, a.taskRefusal("gave up the task that it made of this call.")
		case "input_required":
			if rounds++; rounds > mostQuestions {
				return nil, a.taskRefusal("asks for more input again and again.")
			}
			if err := a.answerTask(ctx, call, id, t); err != nil {
				return nil, err
			}
		}
		told.tell(a, call, t)
		var err error
		if t, err = a.taskLater(ctx, id, t); err != nil {
			return nil, a.explain(ctx, a.order.View, a.reach, err)
		}
	}
}

// taskLater is the task after a pause. A server that fails for a moment is asked again.
func (a *attempt) taskLater(ctx context.Context, id string, t *mcp.Task) (*mcp.Task, error) {
	every := t.PollInterval
	if every == 0 {
		every = taskPoll
	}
	pause := time.NewTicker(min(max(every, leastTaskPoll), mostTaskPoll))
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		err := a.ofTask(ctx, func(ctx context.Context, s *mcp.Session) (err error) {
			t, err = s.Task(ctx, a.order.View.Tenant.ID.UUID, id)
			return err
		})
		if failure, ok := err.(*mcp.Error); !ok || !failure.Retryable { //nolint:errorlint // package mcp returns it bare
			return t, err
		}
	}
}

// ofTask sends a request about a task, under the same credential as the call.
func (a *attempt) ofTask(ctx context.Context, do func(context.Context, *mcp.Session) error) error {
	w := wantOf(a.order.View, a.reach, Client{})
	w.Safe = true
	return a.insist(ctx, w, &a.sent, func(s *mcp.Session) error { return do(ctx, s) })
}

// answerTask has the client answer what a task asks for. One that cannot be asked in between is not asked at all.
func (a *attempt) answerTask(ctx context.Context, call mcp.Call, id string, t *mcp.Task) error {
	var requests map[string]struct {
		Method string
		Params json.RawMessage
	}
	if call.Answer == nil || len(t.InputRequests) > longestQuestions || json.Unmarshal(t.InputRequests, &requests) != nil || len(requests) > mostQuestions {
		return a.taskRefusal("asked for input, and the client gave none.")
	}
	answers := make(map[string]json.RawMessage, len(requests))
	for key, asked := range requests {
		answer, err := call.Answer(mcp.InputRequest{Method: asked.Method, Params: asked.Params})
		if err != nil {
			return a.explain(ctx, a.order.View, a.reach, &mcp.Error{Phase: mcp.PhaseCall, Reason: mcp.ReasonInput, Err: err})
		}
		answers[key] = answer
	}
	responses, err := json.Marshal(answers)
	if err == nil {
		err = a.ofTask(ctx, func(ctx context.Context, s *mcp.Session) error { return s.AnswerTask(ctx, id, responses) })
	}
	if err != nil {
		return a.explain(ctx, a.order.View, a.reach, err)
	}
	return nil
}

// giveUpTask tells the server that nobody waits for its task any more, where that may be news to it.
func (a *attempt) giveUpTask(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), taskFarewell)
	defer cancel()
	_ = a.ofTask(ctx, func(ctx context.Context, s *mcp.Session) error { return s.CancelTask(ctx, id) }) // the task ends by itself, else
}

// taskProgress tells a call's client, and people, what its task says, each time it says something else.
type taskProgress struct {
	n    int
	last []byte
}

func (p *taskProgress) tell(a *attempt, call mcp.Call, t *mcp.Task) {
	if bytes.Equal(p.last, t.Raw) {
		return
	}
	p.last = bytes.Clone(t.Raw)
	if call.Progress != nil {
		call.Progress(mcp.ProgressNote{Progress: float64(p.n), Message: t.Message})
		p.n++
	}
	a.noteProgress(soFar{note: mcp.ProgressNote{Message: t.Message}, task: true})
}

// taskResult is the result of a task that is completed, as that of the call.
func taskResult(t *mcp.Task) *mcp.Result {
	result := &mcp.Result{Raw: t.Result}
	if len(result.Raw) == 0 {
		result.Raw = json.RawMessage(`{"content":[]}`)
	}
	result.Content, _ = member(result.Raw, "content")
	result.Structured, _ = member(result.Raw, "structuredContent")
	isError, _ := member(result.Raw, "isError")
	result.IsError = string(isError) == "true"
	return result
}

// taskFailed is the end of a task that has no result: the error that the call would have had.
func (a *attempt) taskFailed(t *mcp.Task) error {
	if t.Error != nil && t.Error.Code != 0 {
		return &mcp.Error{Phase: mcp.PhaseCall, Reason: mcp.ReasonRPC, RPCCode: t.Error.Code, RPC: t.Error}
	}
	return a.taskRefusal("made a task of this call, and the task failed.")
}

func (a *attempt) taskRefusal(did string) *Refusal {
	return &Refusal{Code: CodeUpstream, Sentence: fmt.Sprintf("The server of %q %s", a.reach.Connector.Name, did)}
}
