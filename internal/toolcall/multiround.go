package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
)

// A server of revision 2025-11-25 sends requests in the middle of a call. A client of revision 2026-07-28
// answers with another request (multi round-trip). In between, the call runs detached in the process that began
// it, and waits while a question is open.
//
//	Call ──► multiRoundCall ──► question ──► InputRequired, with a state that names the call
//	Call with Input, in any process ──► the answer ──► the next question, or the result

// questionTTL bounds how long a question stays open.
const questionTTL = 10 * time.Minute

// multiRoundCalls are those of this process.
type multiRoundCalls struct {
	o         *Options
	running   *runningCalls
	waiters   *waiterSet
	explainer *explainer
	handles   *handleSealer
	mail      *mailboxes
	runCall   func(context.Context, *CallRequest) (Outcome, error)

	mu   sync.Mutex
	byID map[connectors.ToolCallID]*multiRoundCall // guarded by mu
}

func (mr *multiRoundCalls) findCall(id connectors.ToolCallID) *multiRoundCall {
	mr.mu.Lock()
	defer mr.mu.Unlock()
	return mr.byID[id]
}

func (mr *multiRoundCalls) addCall(m *multiRoundCall) {
	mr.mu.Lock()
	defer mr.mu.Unlock()
	if mr.byID == nil {
		mr.byID = map[connectors.ToolCallID]*multiRoundCall{}
	}
	mr.byID[m.id] = m
}

func (mr *multiRoundCalls) removeCall(m *multiRoundCall) {
	mr.mu.Lock()
	defer mr.mu.Unlock()
	delete(mr.byID, m.id)
}

// multiRoundCall is a call that spans several client requests.
type multiRoundCall struct {
	calls       *multiRoundCalls
	id          connectors.ToolCallID
	request     CallRequest // of the first request
	cancel      context.CancelCauseFunc
	questions   chan *serverRequest
	requestSlot chan struct{} // capacity 1: one question at a time
	done        chan struct{} // closed at the end of the call, after out and err are set
	out         Outcome
	err         error

	mu             sync.Mutex // guards the fields below
	requestCount   int
	pendingRequest *serverRequest     // nil: none
	hasRequest     bool               // a client request waits
	client         Client             // of that request
	expiry         *time.Timer        // while no request waits
	answered       map[uuid.UUID]bool // messages of other processes
}

type serverRequest struct {
	ctx    context.Context //nolint:containedctx // of the call: a question is open as long as it lasts
	key    string
	method string
	params json.RawMessage
	answer chan json.RawMessage
}

// needsMultiRound reports whether a new call's server may send requests that the client can only answer with another
// request.
func needsMultiRound(request *CallRequest) bool {
	if request.Task && request.Tool.TaskSupport == agentview.TaskRequired {
		return false // the client polls the task, and is asked by it
	}
	return request.Input == nil && request.MultiRound && request.SendRequest == nil && len(request.Capabilities) > 2 && request.Tool.Connector.Connector.Era != string(mcp.EraModern) && parseCapabilities(request.Capabilities).answersRequests()
}

// startMultiRound starts the call and waits for its first question or result.
func (mr *multiRoundCalls) startMultiRound(ctx context.Context, first *CallRequest) (Outcome, error) {
	request := *first
	if request.ID == (connectors.ToolCallID{}) {
		request.ID = NewCallID()
	}
	request.Arguments, request.Meta, request.Capabilities = bytes.Clone(request.Arguments), bytes.Clone(request.Meta), bytes.Clone(request.Capabilities)
	m := &multiRoundCall{calls: mr, id: request.ID, request: request, questions: make(chan *serverRequest), requestSlot: make(chan struct{}, 1), done: make(chan struct{})}
	callCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	m.cancel = cancel
	attached := request
	attached.AllowPooled = false // several requests, in other processes too, may read the result
	attached.Client = Client{Caller: request.Caller, SendRequest: m.requestFromClient, Capabilities: request.Capabilities, Task: request.Task, Message: m.relayMessage}
	if request.Progress != nil {
		attached.Progress = m.relayProgress
	}
	m.attachClient(request.Client)
	defer m.detachClient()
	mr.addCall(m)
	safe.Go(safe.Call, func() { // Stop waits for the call
		defer close(m.done)
		defer safe.RecoverTo(safe.Call, &m.err)
		m.out, m.err = mr.runCall(callCtx, &attached)
	})
	return m.waitForQuestion(ctx)
}

// attachClient sends messages to this client. ok is false if another request waits already.
func (m *multiRoundCall) attachClient(client Client) (ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hasRequest {
		return false
	}
	m.hasRequest, m.client = true, client
	if m.expiry != nil {
		m.expiry.Stop()
	}
	return true
}

func (m *multiRoundCall) detachClient() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hasRequest, m.client = false, Client{}
	m.expiry = time.AfterFunc(questionTTL, func() {
		defer safe.Recover(safe.Timer)
		m.cancel(errTimeout)
		m.calls.removeCall(m)
	})
}

func (m *multiRoundCall) relayMessage(method string, params json.RawMessage) {
	m.mu.Lock()
	onMessage := m.client.Message
	m.mu.Unlock()
	if onMessage != nil {
		onMessage(method, params)
	}
}

func (m *multiRoundCall) relayProgress(params json.RawMessage) {
	m.mu.Lock()
	onProgress := m.client.Progress
	m.mu.Unlock()
	if onProgress != nil {
		onProgress(params)
	}
}

// requestFromClient sends the server's request to the client, and returns its response.
func (m *multiRoundCall) requestFromClient(ctx context.Context, r mcp.InputRequest) (json.RawMessage, error) {
	select {
	case m.requestSlot <- struct{}{}:
		defer func() { <-m.requestSlot }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	q := &serverRequest{ctx: ctx, key: m.nextQuestionKey(), method: r.Method, params: r.Params, answer: make(chan json.RawMessage, 1)}
	select {
	case m.questions <- q:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (m *multiRoundCall) nextQuestionKey() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requestCount++
	return fmt.Sprintf("q%d", m.requestCount)
}

// waitForQuestion waits for the next question or the end. A client must be attached.
func (m *multiRoundCall) waitForQuestion(ctx context.Context) (Outcome, error) {
	select {
	case q := <-m.questions:
		return m.suspendCall(q)
	case <-m.done:
	case <-ctx.Done():
		m.cancel(context.Cause(ctx))
		<-m.done
	}
	m.cancel(nil)
	m.calls.removeCall(m)
	return m.out, m.err
}

// suspendCall returns the question as InputRequired.
func (m *multiRoundCall) suspendCall(q *serverRequest) (Outcome, error) {
	m.mu.Lock()
	m.pendingRequest = q
	m.mu.Unlock()
	a := activeCall{request: &m.request, connector: m.request.Tool.Connector}
	handle, err := m.calls.handles.sealHandle(m.request.View, purposeState, callState{Call: a.callHash(), Until: m.calls.o.Now().Add(stateTTL), MultiRound: &m.id})
	if err != nil {
		return Outcome{}, err
	}
	params := q.params
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	raw := fmt.Sprintf(`{"resultType":"input_required","inputRequests":{%q:{"method":%s,"params":%s}},"requestState":%s}`,
		q.key, quoteString(q.method), params, handle)
	return Outcome{CallID: m.id, Raw: json.RawMessage(raw), InputRequired: true}, nil
}

// deliverResponse passes the client's response to the server. Without one the question stays open.
func (m *multiRoundCall) deliverResponse(responses json.RawMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pendingRequest == nil {
		return
	}
	if response, _ := findMember(responses, m.pendingRequest.key); response != nil {
		m.pendingRequest.answer <- bytes.Clone(response)
		m.pendingRequest = nil
	}
}

// resumeCall resumes the call with a client's response. A question without a response is returned again.
func (m *multiRoundCall) resumeCall(ctx context.Context, in *mcp.Input, client Client) (Outcome, error) {
	if !m.attachClient(client) {
		return Outcome{}, &InvalidArgumentsError{Sentence: "This call already continues in another request."}
	}
	defer m.detachClient()
	m.deliverResponse(in.Responses)
	open := m.currentQuestion()
	if open == nil {
		return m.waitForQuestion(ctx)
	}
	return m.suspendCall(open)
}

// currentQuestion is the open question; nil: none. It drops that of a cancelled call, which ends a moment
// later.
func (m *multiRoundCall) currentQuestion() *serverRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pendingRequest != nil && m.pendingRequest.ctx.Err() != nil {
		m.pendingRequest = nil
	}
	return m.pendingRequest
}
