package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/apiserver"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
	"patchbay/internal/toolcall/upstream"
)

// maxCallTime bounds a call that reports progress or asks for input.
const maxCallTime = time.Hour

// errPolicyStale means that the request waited for the database, so that its policy must be checked again.
var errPolicyStale = errors.New("the request waited for the database")

// policyCheck is when a request's policy was last checked, as time spent waiting for the database. The zero
// value: before any wait.
type policyCheck struct {
	waited       time.Duration
	fromDatabase bool // checked against the database, not memory
}

// maxCheckedWait bounds the wait after a check against the database. Without it, requests that delay each other
// would check forever.
const maxCheckedWait = 500 * time.Millisecond

// isStale reports whether the policy must be checked again.
func (p policyCheck) isStale(wait *store.WaitBudget) bool {
	waited := wait.Spent() - p.waited
	if p.fromDatabase {
		return waited > maxCheckedWait
	}
	return waited > 0
}

// isViewStale reports whether a request failed because its view, from memory, has another account than the database.
func (p policyCheck) isViewStale(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Type == credentials.TypeAccountChanged && !p.fromDatabase
}

// callSender sends calls and other requests to the servers.
type callSender struct {
	o              *Options
	running        *runningCalls
	explainer      *explainer
	progress       *progressSaver
	pool           *upstream.Pool
	breakers       breakerSet
	credentialUses credentialUses
	watches        *limit.Gate[connectors.AgentID]
	extensionSets  *extensionSets
}

func newCallSender(o *Options, running *runningCalls, explainer *explainer, progress *progressSaver) *callSender {
	return &callSender{
		o: o, running: running, explainer: explainer, progress: progress, watches: limit.NewGate[connectors.AgentID](maxWatches, 0),
		extensionSets: newExtensionSets(),
		pool: upstream.New(upstream.Options{
			Dialer: o.Dialer, Credentials: o.Credentials, Target: o.Target, AcquireSlot: o.AcquireSlot, Store: o.Store, Log: o.Log, Now: o.Now,
		}),
	}
}

// forwardOnce returns errPolicyStale if the call waited since its last check, or if its view has another account. A call that was
// sent keeps its account.
func (cs *callSender) forwardOnce(ctx context.Context, a *activeCall) (result *mcp.Result, err error) {
	ctx, call, done := cs.buildCall(ctx, a)
	defer done()
	lost := false // by the server, the session of an earlier try
	err = cs.withBreaker(ctx, a.request.View, a.connector, func() error {
		w := cs.sessionRequest(a)
		return cs.withSession(ctx, w, &a.credential, func(s *mcp.Session) error {
			if !a.wasSent && a.lastCheck.isStale(a.request.Wait) {
				return errPolicyStale
			}
			if a.request.Tool.HasEnded() {
				return endedToolRefusal(a.request.Tool)
			}
			if s.Era() == mcp.EraModern && servesApps(a.connector) {
				call.Meta = withUIExtension(call.Meta)
			}
			if err := a.prepareTask(s, &call, w.Capabilities); err != nil {
				return err
			}
			call.BetweenCalls, call.OwnStreamOnly = a.request.messageReceiver(a.connector, s)
			a.wasSent = true
			setEntryAccount(a.entry, a.credential)
			result, err = a.sendTraced(ctx, s, call)
			if err == nil {
				a.inNewSession = lost || result.NewSession
			} else if failure, ok := errors.AsType[*mcp.Error](err); ok {
				lost = failure.SessionLost()
			}
			if err == nil && result.Task != nil {
				a.taskSession = newTaskSession(s, w.Capabilities, result.Task, a.credential)
			}
			return err
		})
	})
	switch {
	case errors.Is(err, errPolicyStale):
		return nil, err
	case !a.wasSent && a.account == connectors.CredentialID{} && a.lastCheck.isViewStale(err):
		return nil, errPolicyStale
	case err != nil:
		return nil, cs.explainer.explainError(ctx, a.request.View, a.timedConnector(), err)
	}
	cs.recordCredentialUse(a.request.View.Tenant.ID, a.credential)
	if result.Task != nil && !a.request.Task {
		return cs.awaitTask(ctx, a, call, result.Task)
	}
	return result, nil
}

// callTimeout is how long the server may take.
func (a *activeCall) callTimeout() time.Duration {
	timeout := a.connector.Connector.Timeout
	if a.request.Timeout > 0 {
		timeout = min(timeout, a.request.Timeout)
	}
	return timeout
}

// timedConnector is the call's connector with the call's timeout, for sentences about it.
func (a *activeCall) timedConnector() *agentview.ConnectorView {
	timed := &agentview.ConnectorView{Slug: a.connector.Slug, Connector: a.connector.Connector, Grant: a.connector.Grant, Capabilities: a.connector.Capabilities}
	timed.Connector.Timeout = a.callTimeout()
	return timed
}

// withBreaker runs do behind the server's breaker.
func (cs *callSender) withBreaker(ctx context.Context, v *agentview.View, connector *agentview.ConnectorView, do func() error) error {
	p, wait, ok := cs.breakers.acquirePermit(serverKey{v.Tenant.ID, connector.Connector.ID}, v.Agent.ID, cs.o.Now())
	if !ok {
		return circuitOpenRefusal(connector.Connector.Name, wait)
	}
	signal := signalNone
	defer func() { cs.breakers.recordSignal(p, signal, cs.o.Now()) }()
	err := do()
	signal = toHealthSignal(ctx, err)
	return err
}

// toHealthSignal classifies the error of a request.
func toHealthSignal(ctx context.Context, err error) healthSignal {
	failure, ok := errors.AsType[*mcp.Error](err)
	switch {
	case err == nil:
		return signalAnswered
	case errors.Is(context.Cause(ctx), errTimeout):
		return signalTimeout
	case ctx.Err() != nil, !ok:
		return signalNone
	case failure.Reason == mcp.ReasonTimeout:
		return signalTimeout
	case failure.Reason == mcp.ReasonUnreachable, failure.Reason == mcp.ReasonTLS,
		failure.HTTPStatus >= http.StatusInternalServerError && failure.RPC == nil:
		return signalFailed
	default:
		return signalAnswered
	}
}

// sessionRequest describes the session that the call needs.
func (cs *callSender) sessionRequest(a *activeCall) upstream.SessionRequest {
	client := a.request.Client
	w := cs.newSessionRequest(a.request.View, a.connector, client, client.SendRequest != nil || a.asksDuringTask())
	if a.account != (connectors.CredentialID{}) {
		w.Pinned = a.account
	}
	hints := a.request.Tool.Hints
	w.Retryable = hints.ReadOnly != nil && *hints.ReadOnly || hints.Idempotent != nil && *hints.Idempotent
	return w
}

// newSessionRequest describes the session for requests of a client. answers: it answers the server's requests.
func (cs *callSender) newSessionRequest(v *agentview.View, connector *agentview.ConnectorView, client Client, answers bool) upstream.SessionRequest {
	w := upstream.SessionRequest{Tenant: v.Tenant.ID, Connector: connector.Connector, Caller: client.Caller, Wait: client.Wait}
	w.Account.Name, w.Pinned = connector.Grant.Account(), connector.Account
	if v.Agent.ID != (connectors.AgentID{}) { // an admin's request may have none
		w.Account.Agent = &v.Agent.ID
	}
	caps := parseExtensions(client.Capabilities)
	if answers {
		caps = parseCapabilities(client.Capabilities)
	}
	caps.extensions = cs.relayedExtensions(v, connector, caps.extensions)
	setCapabilities(&w, caps)
	return w
}

// setCapabilities requests a session with these client capabilities. Requests of a server on a shared stream are for one agent.
func setCapabilities(w *upstream.SessionRequest, caps clientCapabilities) {
	w.Capabilities = caps.encodeMembers()
	w.PerAgent = caps.answersRequests() && hasSharedStream(&w.Connector)
}

// hasSharedStream reports whether all server messages share one stream, so that they cannot be assigned to a
// call.
func hasSharedStream(c *connectors.Connector) bool {
	return c.Transport == connectors.TransportStdio || c.Transport == connectors.TransportSSE || c.Era == string(mcp.EraSSE)
}

// buildCall builds the upstream call. Progress restarts its timeout and questions pause it: the returned
// context ends when it is over.
func (cs *callSender) buildCall(ctx context.Context, a *activeCall) (_ context.Context, call mcp.Call, done func()) {
	request := a.request
	call = mcp.Call{
		Name: request.Tool.Name, Arguments: request.Arguments, Meta: request.Meta, InputSchema: request.Tool.InputSchema, Timeout: a.callTimeout(),
		LogLevel: request.LogLevel, AllowPooled: a.mayLend, CallerKey: request.View.Agent.ID.UUID, MemoryKey: request.View.Tenant.ID.UUID,
	}
	if a.connector.Connector.Transport == connectors.TransportAPI {
		call.Meta = apiserver.CallMeta(request.Tool.Binding())
	}
	if request.Input != nil {
		call.Input = &mcp.Input{Responses: request.Input.Responses, State: a.resumed.State}
	}
	call.Message = request.messageHandler(&a.connector.Connector)
	if request.Progress == nil && request.SendRequest == nil {
		return ctx, call, func() {}
	}
	ctx, w := newWatchdog(ctx, call.Timeout)
	call.Timeout = maxCallTime
	if request.Progress != nil {
		a.resetTimeout = w.resetTimer
		call.Progress = func(n mcp.ProgressNotification) {
			w.resetTimer()
			cs.progress.queueProgress(a, n)
			a.sentProgress.sendNote(request.Progress, n)
		}
	}
	if request.SendRequest != nil {
		answer := request.newAnswer(ctx)
		call.Answer = func(r mcp.InputRequest) (json.RawMessage, error) {
			defer w.pause()()
			return answer(r)
		}
	}
	return ctx, call, w.stop
}

// messageHandler forwards the server's log messages to the client; nil: none. Those of a stream that several agents share
// would reach the wrong one.
func (c *Client) messageHandler(connector *connectors.Connector) func(mcp.Message) {
	if c.Message == nil || hasSharedStream(connector) && !connector.SessionPerAgent && !hasOwnCredential(connector) {
		return nil
	}
	return func(m mcp.Message) {
		if m.Method == "notifications/message" {
			c.Message(m.Method, m.Params)
		}
	}
}

// hasOwnCredential reports whether each agent has a credential of its own, and so a session.
func hasOwnCredential(connector *connectors.Connector) bool {
	return connector.CredentialMode == connectors.CredentialPerAgent && connector.Auth.Type != connectors.AuthNone
}

// messageReceiver returns the receiver of the messages that the server sends outside requests. shared: the session has requests
// of several agents, and such messages may be another agent's.
func (c *Client) messageReceiver(connector *agentview.ConnectorView, s *mcp.Session) (receiver mcp.MessageReceiver, shared bool) {
	shared = !hasOwnCredential(&connector.Connector) && (!connector.Connector.SessionPerAgent || !s.IsStateful())
	if shared || c.BetweenCalls == nil {
		return receiver, shared
	}
	send, slug := c.BetweenCalls, connector.Slug
	return mcp.MessageReceiver{Key: c.SessionKey, Receive: func(m mcp.Message) { send(slug, m.Params) }}, false
}

func progressParams(n mcp.ProgressNotification) json.RawMessage {
	params := struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total,omitempty"`
		Message  string  `json:"message,omitempty"`
	}{n.Progress, n.Total, n.Message}
	raw, err := json.Marshal(params)
	if err != nil {
		return json.RawMessage(`{"progress":0}`)
	}
	return raw
}

// withSession runs do in a session. A refused token is reported, and a machine retries once with a new one.
func (cs *callSender) withSession(ctx context.Context, w upstream.SessionRequest, credential **credentials.Credential, do func(*mcp.Session) error) error {
	w.OnCredential = credential
	err := cs.pool.Use(ctx, w, do)
	if err == nil {
		return nil
	}
	retry, err := cs.reportAuthFailure(ctx, w, *credential, err)
	if retry {
		w.Pinned = usedAccount(*credential)
		err = cs.pool.Use(ctx, w, do)
	}
	return err
}
