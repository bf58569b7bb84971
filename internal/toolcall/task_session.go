package toolcall

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
	"patchbay/internal/safe"
	"patchbay/internal/toolcall/upstream"
)

// A server of 2025-11-25 makes a task of a call if the request says so. Requests about the task go to the session of the
// call, in any process and after a restart, because many servers know a task only there.

// taskSession is the server's session of a task, and the account of all its requests. In 2026-07-28 there are no sessions. Token is secret.
type taskSession struct {
	IsHandshake  bool   `json:"h,omitempty"`
	Token        string `json:"s,omitempty"` // [mcp.Session.Token]; empty: the session has none
	Capabilities string `json:"p,omitempty"` // the client's, as the session was opened with

	Account connectors.CredentialID `json:"k,omitzero"` // that began the task; zero: none, or of a previous release
}

func newTaskSession(s *mcp.Session, capabilities string, t *mcp.Task, account *credentials.Credential) (session taskSession) {
	if t.IsHandshake {
		session = taskSession{IsHandshake: true, Token: s.Token(), Capabilities: capabilities}
	}
	session.Account = usedAccount(account)
	return session
}

// newTaskSessionRequest describes the session for requests about a task.
func (cs *callSender) newTaskSessionRequest(v *agentview.View, connector *agentview.ConnectorView, session taskSession, client Client) upstream.SessionRequest {
	w := cs.newSessionRequest(v, connector, client, false)
	if session.Account != (connectors.CredentialID{}) {
		w.Pinned = session.Account
	}
	if session.IsHandshake {
		setCapabilities(&w, parseCapabilities(json.RawMessage(session.Capabilities)))
		w.Resume = session.Token
	}
	return w
}

func (t taskSession) hasAccount() bool { return t.Account != connectors.CredentialID{} }

// prepareTask makes a task of the call if the server requires one, or if a client of 2025-11-25 asks for one. It refuses the
// call if the server requires a task and declares no tasks.
func (a *activeCall) prepareTask(s *mcp.Session, call *mcp.Call, capabilities string) error {
	support, accepts := a.request.Tool.TaskSupport, s.AcceptsTasks()
	switch {
	case s.Era() == mcp.EraModern:
		if a.request.HandshakeTasks {
			call.Meta = withTaskExtension(call.Meta, capabilities)
		}
	case support == agentview.TaskRequired && !accepts:
		return &RefusalError{Code: CodeUpstream, Sentence: fmt.Sprintf(
			"%q requires a task for %q without declaring task support, so the tool can't be called. Tell the server's author.",
			a.connector.Connector.Name, a.request.Tool.Name)}
	case support == agentview.TaskRequired, support == agentview.TaskOptional && accepts && a.request.HandshakeTasks:
		call.TaskTTL = a.request.taskTTL()
	}
	return nil
}

// withTaskExtension declares to a server of 2026-07-28 that the client takes tasks, besides its capabilities.
func withTaskExtension(meta json.RawMessage, capabilities string) json.RawMessage {
	if len(meta) == 0 {
		meta = json.RawMessage("{}")
	}
	if capabilities == "" {
		capabilities = "{}"
	}
	extensions, _ := findMember([]byte(capabilities), "extensions")
	if extensions == nil {
		extensions = json.RawMessage("{}")
	}
	declared := withMember([]byte(capabilities), "extensions", withMember(extensions, revision.TasksExtension, json.RawMessage("{}")))
	return withMember(meta, revision.MetaCapabilities, declared)
}

// Bounds of how long a server of 2025-11-25 is asked to keep a task.
const (
	minTaskTTL     = time.Minute
	maxTaskTTL     = 24 * time.Hour
	defaultTaskTTL = maxCallTime
)

// taskTTL is how long the task of the call is to be kept.
func (request *CallRequest) taskTTL() time.Duration {
	if request.TaskTTL <= 0 {
		return defaultTaskTTL
	}
	return min(max(request.TaskTTL, minTaskTTL), maxTaskTTL)
}

// taskRelay lets the client answer a server's requests for a task of 2025-11-25, while the task is polled.
type taskRelay struct {
	sender *callSender
	a      *activeCall
	call   mcp.Call
	id     string             // the server's, of the task
	cancel context.CancelFunc // nil: not started
	done   chan struct{}      // closed at the end
}

func (r *taskRelay) isRunning() bool {
	if r.cancel == nil {
		return false
	}
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// giveInput lets the client answer what a task asks for. In 2025-11-25 it does so while the task is polled.
func (r *taskRelay) giveInput(ctx context.Context, t *mcp.Task) error {
	switch {
	case !t.IsHandshake:
		return r.sender.answerTask(ctx, r.a, r.call, t)
	case r.call.Answer == nil:
		return r.a.taskRefusal("asked for input, and the client gave none.")
	}
	r.startRelay(ctx)
	return nil
}

// startRelay starts a relay, after the last one has ended. Errors show in the task's state.
func (r *taskRelay) startRelay(ctx context.Context) {
	r.stopRelay()
	ctx, r.cancel = context.WithCancel(ctx)
	done := make(chan struct{})
	r.done = done
	answer := func(request mcp.InputRequest) (json.RawMessage, error) {
		request.Params = mcp.WithRelatedTask(request.Params, r.a.taskHandle)
		return answerUntil(ctx, r.call.Answer, request)
	}
	credential := r.a.credential
	safe.Go(safe.Call, func() { // stopRelay waits for it
		defer close(done)
		w := r.sender.newTaskSessionRequest(r.a.request.View, r.a.connector, r.a.taskSession, Client{Caller: r.a.request.Caller})
		w.ByID = r.a.taskSession.hasAccount()
		_ = r.sender.withSession(ctx, w, &credential, func(s *mcp.Session) error {
			return s.RelayTask(ctx, mcp.TaskRelay{ID: r.id, Timeout: maxCallTime, Answer: answer, CallerKey: r.a.request.View.Agent.ID.UUID})
		})
	})
}

// answerUntil returns the client's answer, or an error when ctx ends: the task can end while its question is open.
func answerUntil(ctx context.Context, answer func(mcp.InputRequest) (json.RawMessage, error), request mcp.InputRequest) (json.RawMessage, error) {
	type result struct {
		raw json.RawMessage
		err error
	}
	results := make(chan result, 1)
	safe.Go(safe.Call, func() { // ends with the call
		var r result
		defer func() { results <- r }()
		defer safe.RecoverTo(safe.Call, &r.err)
		r.raw, r.err = answer(request)
	})
	select {
	case r := <-results:
		return r.raw, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// stopRelay ends the relay, and waits for it.
func (r *taskRelay) stopRelay() {
	if r.cancel == nil {
		return
	}
	r.cancel()
	<-r.done
}

// unknownTaskMethod is the error of a method that tasks of the server's revision do not have.
func unknownTaskMethod(method string) error {
	return &mcp.Error{
		Phase: mcp.PhaseRequest, Reason: mcp.ReasonRPC, RPCCode: mcp.CodeMethodNotFound,
		RPC: &mcp.RPCError{Code: mcp.CodeMethodNotFound, Message: fmt.Sprintf("Unknown method %q.", method)},
	}
}
