package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// A server of 2025-11-25 sends the questions of a task while tasks/result is open. A client of 2026-07-28 finds them in the
// result of tasks/get, and answers by tasks/update. So a process that such a client polls keeps tasks/result open. It
// stores the open question as mail, so that each process can return it, and pass the answer on.

const (
	questionMailboxPrefix = "question-" // plus the call's id: the open question
	responseMailboxPrefix = "response-" // plus the call's id: responses for the process that has the question
	// questionWait bounds how long tasks/get waits for the question of a task that asks for input.
	questionWait = 3 * time.Second
	// maxQuestionRelays is the maximum of tasks of one agent that ask for input at once in this process.
	maxQuestionRelays = 16
)

// taskQuestions are the tasks of which this process takes the questions.
type taskQuestions struct {
	o       *Options
	running *runningCalls
	sender  *callSender
	mail    *mailboxes
	slots   *limit.Gate[connectors.AgentID]

	mu     sync.Mutex
	byTask map[connectors.ToolCallID]*questionRelay // guarded by mu
}

func newTaskQuestions(o *Options, running *runningCalls, sender *callSender, mail *mailboxes) *taskQuestions {
	return &taskQuestions{
		o: o, running: running, sender: sender, mail: mail, slots: limit.NewGate[connectors.AgentID](maxQuestionRelays, 0),
		byTask: map[connectors.ToolCallID]*questionRelay{},
	}
}

// taskQuestion is a server's request for a task.
type taskQuestion struct {
	Key    string          `json:"key"` // unique among the questions of the task
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// asksDuringTask reports whether the server may ask a client that polls the task of the call.
func (a *activeCall) asksDuringTask() bool {
	r := a.request
	return r.Task && r.MultiRound && !r.HandshakeTasks && r.Tool.TaskSupport == agentview.TaskRequired
}

// addQuestion adds the open question to a task that asks for input. A task without one goes on: the server asks in a moment.
func (tq *taskQuestions) addQuestion(ctx context.Context, q *UpstreamRequest, t taskHandle, raw json.RawMessage) (json.RawMessage, error) {
	status, _ := findMember(raw, "status")
	if parseString(status) != taskInput || !parseCapabilities(json.RawMessage(t.Capabilities)).answersRequests() {
		return raw, nil
	}
	open, err := tq.loadQuestion(ctx, q, t.Call)
	if err != nil {
		return nil, err
	}
	if open == nil {
		open = tq.awaitQuestion(ctx, q, t)
	}
	if open == nil {
		return withMember(raw, "status", quoteString(taskWorking)), nil
	}
	requests := fmt.Sprintf(`{%s:{"method":%s,"params":%s}}`, quoteString(open.Key), quoteString(open.Method), open.Params)
	return withMember(raw, "inputRequests", json.RawMessage(requests)), nil
}

// loadQuestion returns the open question of this process or another one; nil: none.
func (tq *taskQuestions) loadQuestion(ctx context.Context, q *UpstreamRequest, id connectors.ToolCallID) (*taskQuestion, error) {
	answered := ""
	if r := tq.findRelay(id); r != nil {
		open, _ := r.currentQuestion()
		if open != nil {
			return open, nil
		}
		answered = r.lastAnswered()
	}
	var letters []store.MailMessage
	err := tq.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) (err error) {
		letters, err = tq.o.Store.Vault(q.View.Tenant.ID).Mail(ctx, q.View.Agent.ID, questionMailboxPrefix+id.String(), uuid.Nil)
		return err
	})
	if err != nil {
		return nil, unavailableRefusal(err, id)
	}
	if len(letters) == 0 {
		return nil, nil //nolint:nilnil // no question is no error
	}
	var open taskQuestion
	if err := json.Unmarshal([]byte(letters[0].Message.Reveal()), &open); err != nil {
		return nil, fmt.Errorf("read a stored question: %w", err)
	}
	if open.Key == answered {
		return nil, nil //nolint:nilnil // no question is no error
	}
	return &open, nil
}

// awaitQuestion waits a moment for the question of the task in this process; nil: none came.
func (tq *taskQuestions) awaitQuestion(ctx context.Context, q *UpstreamRequest, t taskHandle) *taskQuestion {
	relay := tq.ensureRelay(q, t)
	if relay == nil {
		return nil
	}
	timeout := time.NewTimer(questionWait)
	defer timeout.Stop()
	for {
		open, changed := relay.currentQuestion()
		if open != nil {
			return open
		}
		select {
		case <-changed:
		case <-relay.done:
			return nil
		case <-timeout.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// ensureRelay returns the relay of a task, and starts one if there is none; nil: the agent has too many, or the process
// stops.
func (tq *taskQuestions) ensureRelay(q *UpstreamRequest, t taskHandle) *questionRelay {
	tq.mu.Lock()
	defer tq.mu.Unlock()
	if r := tq.byTask[t.Call]; r != nil {
		r.expiry.Reset(questionTTL)
		return r
	}
	agent := q.View.Agent.ID
	if !tq.slots.TryAcquire(agent) {
		return nil
	}
	r := &questionRelay{
		questions: tq, view: q.View, connector: q.Connector, caller: q.Caller, task: t, slot: make(chan struct{}, 1), changed: make(chan struct{}), done: make(chan struct{}),
		expired: make(chan struct{}),
	}
	expire := sync.OnceFunc(func() { close(r.expired) })
	started := tq.running.runBackground(func(ctx context.Context) {
		defer tq.removeRelay(r)
		r.runRelay(ctx)
	})
	if !started {
		tq.slots.Release(agent)
		return nil
	}
	r.expiry = time.AfterFunc(questionTTL, func() {
		defer safe.Recover(safe.Timer)
		expire()
	})
	tq.byTask[t.Call] = r
	return r
}

func (tq *taskQuestions) removeRelay(r *questionRelay) {
	tq.mu.Lock()
	defer tq.mu.Unlock()
	delete(tq.byTask, r.task.Call)
	r.expiry.Stop()
	close(r.done)
	tq.slots.Release(r.view.Agent.ID)
}

func (tq *taskQuestions) findRelay(id connectors.ToolCallID) *questionRelay {
	tq.mu.Lock()
	defer tq.mu.Unlock()
	return tq.byTask[id]
}

// answerQuestion passes a client's responses to the process that has the question. Others than those of an open question
// are dropped.
func (tq *taskQuestions) answerQuestion(ctx context.Context, q *UpstreamRequest, r taskRequest) (json.RawMessage, error) {
	responses, _ := findMember(r.params, "inputResponses")
	if responses == nil || len(responses) > maxInputBytes || responses[0] != '{' {
		return nil, &InvalidArgumentsError{Sentence: "inputResponses is an object with a response for each key of inputRequests, of 1 MiB at most."}
	}
	complete := json.RawMessage(`{"resultType":"complete"}`)
	if relay := tq.findRelay(r.task.Call); relay != nil && relay.deliverResponse(responses) {
		return complete, nil
	}
	open, err := tq.loadQuestion(ctx, q, r.task.Call)
	if err != nil {
		return nil, err
	}
	if open == nil {
		return complete, nil
	}
	if response, _ := findMember(responses, open.Key); response == nil {
		return complete, nil
	}
	err = tq.mail.putMail(ctx, q.Wait, q.View.Tenant.ID, tq.mail.newMail(q.View, responseMailboxPrefix+r.task.Call.String(), bytes.Clone(responses)))
	if err == nil {
		err = tq.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) error { return tq.removeQuestion(ctx, q.View, r.task.Call) })
	}
	if err != nil {
		return nil, unavailableRefusal(err, r.task.Call)
	}
	return complete, nil
}

// removeQuestion removes the stored question of a task.
func (tq *taskQuestions) removeQuestion(ctx context.Context, v *agentview.View, id connectors.ToolCallID) error {
	_, err := tq.o.Store.Vault(v.Tenant.ID).TakeMail(ctx, v.Agent.ID, questionMailboxPrefix+id.String())
	return err
}

// handleResponseMail passes on responses that another process received.
func (tq *taskQuestions) handleResponseMail(box string) {
	text, ok := strings.CutPrefix(box, responseMailboxPrefix)
	if !ok {
		return
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return
	}
	if r := tq.findRelay(connectors.ToolCallID{UUID: id}); r != nil {
		tq.running.runBackground(func(ctx context.Context) { r.takeResponses(ctx, box) })
	}
}

// responseBoxes are the mailboxes for responses to questions of this process.
func (tq *taskQuestions) responseBoxes() []string {
	tq.mu.Lock()
	defer tq.mu.Unlock()
	boxes := make([]string, 0, len(tq.byTask))
	for id := range tq.byTask {
		boxes = append(boxes, responseMailboxPrefix+id.String())
	}
	return boxes
}

// questionRelay keeps tasks/result of one task open, until the task ends or no client polls it for questionTTL.
type questionRelay struct {
	questions *taskQuestions
	view      *agentview.View
	connector *agentview.ConnectorView
	caller    connectors.Caller
	task      taskHandle
	slot      chan struct{} // capacity 1: one question at a time
	done      chan struct{} // closed at the end
	expired   chan struct{} // closed by expiry
	expiry    *time.Timer

	mu       sync.Mutex // guards the fields below
	open     *taskQuestion
	isStored bool                 // other processes can find the open question
	answered string               // key of the last question with a response
	response chan json.RawMessage // of the open question
	changed  chan struct{}        // closed and replaced when a question is stored
}

// currentQuestion returns the open question, once other processes can find it; nil: none.
func (r *questionRelay) currentQuestion() (open *taskQuestion, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isStored {
		open = r.open
	}
	return open, r.changed
}

func (r *questionRelay) lastAnswered() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered
}

// runRelay answers the server's requests. Its errors show in the task's state.
func (r *questionRelay) runRelay(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	safe.Go(safe.Call, func() { // ends with runRelay
		select {
		case <-r.expired:
			cancel()
		case <-ctx.Done():
		}
	})
	caps := parseCapabilities(json.RawMessage(r.task.Capabilities))
	answer := func(request mcp.InputRequest) (json.RawMessage, error) {
		if !caps.canAnswer(request.Method, request.Params) {
			return nil, errUnsupportedRequest
		}
		return r.askClient(ctx, request)
	}
	var credential *credentials.Credential
	w := r.questions.sender.newTaskSessionRequest(r.view, r.connector, r.task.taskSession, Client{Caller: r.caller})
	_ = r.questions.sender.withSession(ctx, w, &credential, func(s *mcp.Session) error {
		return s.RelayTask(ctx, mcp.TaskRelay{ID: r.task.ID, Timeout: maxCallTime, Answer: answer, CallerKey: r.view.Agent.ID.UUID})
	})
}

// askClient opens a question, and returns the client's response.
func (r *questionRelay) askClient(ctx context.Context, request mcp.InputRequest) (json.RawMessage, error) {
	select {
	case r.slot <- struct{}{}:
		defer func() { <-r.slot }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	params := mcp.WithRelatedTask(request.Params, nil) // the server's own id
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	open := &taskQuestion{Key: NewCallID().String(), Method: request.Method, Params: bytes.Clone(params)}
	message, err := json.Marshal(open)
	if err != nil {
		return nil, err
	}
	response := r.openQuestion(open) // first: another process can find it before putMail returns
	defer r.closeQuestion(ctx)
	mail := r.questions.mail.newMail(r.view, questionMailboxPrefix+r.task.Call.String(), message)
	mail.ExpiresAt = r.questions.o.Now().Add(questionTTL)
	if err := r.questions.mail.putMail(ctx, &store.WaitBudget{Tenant: r.view.Tenant.ID}, r.view.Tenant.ID, mail); err != nil {
		return nil, err
	}
	r.announceQuestion()
	select {
	case raw := <-response:
		return raw, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (r *questionRelay) openQuestion(open *taskQuestion) <-chan json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open, r.isStored, r.response = open, false, make(chan json.RawMessage, 1)
	return r.response
}

// announceQuestion lets requests of this process find the question, which is stored now.
func (r *questionRelay) announceQuestion() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isStored = true
	close(r.changed)
	r.changed = make(chan struct{})
}

// closeQuestion closes the question for all processes.
func (r *questionRelay) closeQuestion(ctx context.Context) {
	r.mu.Lock()
	r.open = nil
	r.mu.Unlock()
	o := r.questions.o
	o.logUnsaved(ctx, o.Store.RetryStarted(context.WithoutCancel(ctx), func(ctx context.Context) error {
		return r.questions.removeQuestion(ctx, r.view, r.task.Call)
	}))
}

// deliverResponse passes the response to the open question on, and reports whether there is one among these.
func (r *questionRelay) deliverResponse(responses json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return false
	}
	response, _ := findMember(responses, r.open.Key)
	if response == nil {
		return false
	}
	r.answered, r.open = r.open.Key, nil
	r.response <- bytes.Clone(response)
	return true
}

// takeResponses passes on the responses in the mailbox.
func (r *questionRelay) takeResponses(ctx context.Context, box string) {
	o := r.questions.o
	var letters []store.MailMessage
	o.logUnsaved(ctx, o.Store.RetryStarted(ctx, func(ctx context.Context) (err error) {
		letters, err = o.Store.Vault(r.view.Tenant.ID).TakeMail(ctx, r.view.Agent.ID, box)
		return err
	}))
	for _, l := range letters {
		r.deliverResponse(json.RawMessage(l.Message.Reveal()))
	}
}
