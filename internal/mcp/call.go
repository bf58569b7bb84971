package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// maxRounds bounds how often a server may ask for input before it completes a call.
const maxRounds = 16

// Call is one tools/call.
type Call struct {
	Name      string
	Arguments json.RawMessage // an object; empty: none
	Meta      json.RawMessage // _meta, an object; empty: none
	// InputSchema is the tool's schema, read for parameters that are mirrored into headers; empty: none.
	InputSchema json.RawMessage
	// Timeout bounds each round trip; 0: the target's.
	Timeout time.Duration

	// Progress and Message receive the notifications that arrive before the result. They must return quickly;
	// nil: ignored.
	Progress func(ProgressNotification)
	Message  func(Message)
	// BetweenCalls receives log messages between the calls of its client.
	BetweenCalls MessageReceiver
	// OwnStreamOnly: other callers share the session, so that Message receives only what is sent on the reply.
	OwnStreamOnly bool
	// Answer answers the server's requests during the call, and must return when ctx ends. If it is nil, a
	// handshake-era server is refused. The result of a modern-era server is returned as InputRequired.
	Answer func(InputRequest) (json.RawMessage, error)
	// CallerKey is the key by which concurrent requests of the server are limited, where several callers share
	// a session.
	CallerKey [16]byte
	// MemoryKey is the [MemoryLimit] key that a long response counts against; zero: it is not counted.
	MemoryKey [16]byte

	// AllowPooled allows a long result to use pooled memory until [Result.Release].
	AllowPooled bool

	// LogLevel is the minimum level of log messages (MCP's names); empty: the server's default. A handshake-era
	// server is asked once for all levels; callers filter.
	LogLevel string

	// Input continues a call after an InputRequired result; nil: a new call.
	Input *Input

	// TaskTTL asks a server of 2025-11-25 to make a task of the call, and to keep it for so long; 0: the call is no
	// task.
	TaskTTL time.Duration
}

// Input answers an [InputRequired].
type Input struct {
	Responses json.RawMessage // an object of results by request key; empty: none
	State     json.RawMessage // InputRequired.State, unchanged
}

// Result is the result of a call.
type Result struct {
	Raw        json.RawMessage // the whole result, byte for byte
	Content    json.RawMessage // empty: none
	Structured json.RawMessage // structuredContent; empty: none
	IsError    bool            // the tool reports a failure
	NewSession bool            // the server had lost the session; the call was repeated in another one
	// At most one of the following is set; none: the call is complete.
	Task          *Task          // the server continues in the background
	InputRequired *InputRequired // the call must be repeated with Input

	lease pooledBody
}

// InputRequired is the input that a modern-era server needs to continue a call.
type InputRequired struct {
	Requests []KeyedRequest
	State    json.RawMessage // an opaque JSON string; empty: none
}

// KeyedRequest is one request of an [InputRequired].
type KeyedRequest struct {
	Key string
	InputRequest
}

// Call calls a tool. The request is repeated only if it certainly did not run: no connection was made, the
// server did not know the session (404), or it refused the headers. Every error is an *Error. One with
// ReasonInput wraps the error of Answer.
func (s *Session) Call(ctx context.Context, call Call) (*Result, error) {
	for range maxRounds {
		result, err := s.callOnce(ctx, &call)
		if err != nil || result.InputRequired == nil || call.Answer == nil {
			return result, err
		}
		if call.Input, err = result.InputRequired.answer(call.Answer); err != nil {
			return result, &Error{Phase: PhaseCall, Reason: ReasonInput, HTTPStatus: http.StatusOK, Err: err}
		}
	}
	return nil, newProtocolError(PhaseCall, "keeps asking for input")
}

func (r *InputRequired) answer(answer func(InputRequest) (json.RawMessage, error)) (*Input, error) {
	input := &Input{State: r.State}
	var responses []wire.Member
	for _, keyed := range r.Requests {
		response, err := answer(keyed.InputRequest)
		if err != nil {
			return nil, err
		}
		responses = append(responses, wire.Member{Name: keyed.Key, Value: response})
	}
	input.Responses = wire.Object(responses)
	return input, nil
}

func (s *Session) callOnce(ctx context.Context, call *Call) (*Result, error) {
	c := s.currentConnection()
	result, err := c.call(ctx, call)
	failure, _ := errors.AsType[*Error](err)
	switch {
	case isSessionLost(err):
		next, reconnectErr := s.waitForReplacement(ctx, c)
		if !isNotFound(err) || reconnectErr != nil {
			return nil, err // the next call uses the new connection
		}
		result, err = next.call(ctx, call)
		if err == nil {
			result.NewSession = true
		}
		return result, err
	case failure != nil && failure.RPCCode == codeHeaderMismatch && c.mirrorsParams():
		if !c.refreshSchema(ctx, call) {
			return nil, err
		}
		return c.call(ctx, call)
	}
	return result, err
}

// refreshSchema reloads the tool's input schema. ok is false if the server does not list the tool.
func (c *connection) refreshSchema(ctx context.Context, call *Call) (ok bool) {
	list, err := c.listTools(ctx)
	if err != nil {
		return false
	}
	for _, tool := range list.Tools {
		if tool.Name == call.Name {
			call.InputSchema = readObject(tool.Raw).get("inputSchema")
			return true
		}
	}
	return false
}

// call sends a call. It is repeated only if it was not sent.
func (c *connection) call(ctx context.Context, call *Call) (*Result, error) {
	r, err := c.newCallRequest(call)
	if err != nil {
		return nil, err
	}
	if call.Answer != nil {
		c.openServerStream(ctx)
	}
	c.enableLogging(ctx, call.LogLevel)
	c.addMessageReceiver(call.BetweenCalls)
	var in receivedReply
	var id int
	err = c.retry.unsentOnly().do(ctx, func() (failure *Error) {
		id = c.newID()
		r.meta = slices.DeleteFunc(r.meta, isProgressToken) // a foreign token could equal another call's
		if call.Progress != nil {
			r.meta = append(r.meta, wire.Member{Name: metaProgressToken, Value: wire.Number(id)})
		}
		defer c.unregisterCallbacks(c.registerCallbacks(id, &requestCallbacks{
			progress: call.Progress, message: call.Message, answer: call.Answer, callerKey: call.CallerKey,
			clientKey: call.BetweenCalls.Key, ownStreamOnly: call.OwnStreamOnly,
		}))
		timeout := call.Timeout
		if timeout <= 0 {
			timeout = c.timeout
		}
		m := c.era.newMessage(c, r, id)
		m.poolable = call.AllowPooled
		in, failure = c.exchangeWithin(ctx, timeout, m)
		return failure
	})
	if err != nil {
		return nil, err
	}
	result, err := c.readResult(in.reply, call.TaskTTL > 0)
	switch {
	case err != nil:
	case result.Task != nil:
		c.keepForTask(result.Task)
		result.Task.connection, result.Task.callID = c, id
	case result.InputRequired == nil:
		result.lease = in.lease
	}
	return result, err
}

// enableLogging asks a handshake-era server once for its log messages, which it does not send by default.
func (c *connection) enableLogging(ctx context.Context, level string) {
	if level == "" || !c.hasLogging || !c.era.hasServerRequests() {
		return
	}
	c.loggingOnce.Do(func() {
		_, _ = c.requestOnce(ctx, rpcRequest{phase: PhaseRequest, method: "logging/setLevel", params: []wire.Member{{Name: "level", Value: wire.Text("debug")}}})
	})
}

const metaProgressToken = "progressToken"

func isProgressToken(m wire.Member) bool { return m.Name == metaProgressToken }

func (c *connection) newCallRequest(call *Call) (rpcRequest, error) {
	r := rpcRequest{phase: PhaseCall, method: "tools/call", name: call.Name, memoryKey: call.MemoryKey}
	r.params = append(make([]wire.Member, 0, 4), wire.Member{Name: "name", Value: wire.Text(call.Name)})
	if len(call.Arguments) > 0 {
		r.params = append(r.params, wire.Member{Name: "arguments", Value: call.Arguments})
	}
	if call.Input != nil {
		r.params = append(r.params, call.Input.toMembers()...)
	}
	if call.TaskTTL > 0 && c.era.hasServerRequests() {
		ttl := wire.Object([]wire.Member{{Name: "ttl", Value: wire.Number(int(call.TaskTTL.Milliseconds()))}})
		r.params = append(r.params, wire.Member{Name: "task", Value: ttl})
	}
	var ok bool
	if r.meta, ok = wire.Members(call.Meta); !ok {
		return r, newRequestError(PhaseCall, "the call's _meta is not an object")
	}
	if !wire.IsObject(call.Arguments) {
		return r, newRequestError(PhaseCall, "the call's arguments are not an object")
	}
	if call.LogLevel != "" && !c.era.hasServerRequests() {
		r.meta = append(withoutMembers(r.meta, revision.MetaLogLevel), wire.Member{Name: revision.MetaLogLevel, Value: wire.Text(call.LogLevel)})
	}
	if c.mirrorsParams() {
		r.header = paramHeaders(call.InputSchema, call.Arguments)
	}
	return r, nil
}

func (i *Input) toMembers() (params []wire.Member) {
	if len(i.Responses) > 0 {
		params = append(params, wire.Member{Name: "inputResponses", Value: i.Responses})
	}
	if len(i.State) > 0 {
		params = append(params, wire.Member{Name: "requestState", Value: i.State})
	}
	return params
}

func newRequestError(phase Phase, detail string) *Error {
	return &Error{Phase: phase, Reason: ReasonProtocol, Detail: detail}
}

// readResult reads the fields of a call's result; the content is not parsed. asTask: a task was asked for.
func (c *connection) readResult(reply *wire.Reply, asTask bool) (*Result, error) {
	fields, ok := reply.Fields, true
	if fields == nil {
		fields, ok = wire.Members(reply.Result)
	}
	if !ok {
		return nil, newProtocolError(PhaseCall, "sent a non-object result")
	}
	result := &Result{Raw: reply.Result}
	kind := ""
	for _, f := range fields {
		switch f.Name {
		case "content":
			result.Content = f.Value
		case "structuredContent":
			result.Structured = f.Value
		case "isError":
			result.IsError = string(f.Value) == "true"
		case "resultType":
			kind = readString(f.Value, maxNameLength)
		}
	}
	if err := c.era.checkResultType(PhaseCall, kind); err != nil {
		return nil, err
	}
	if c.era.hasServerRequests() { // only the modern era has result types
		if asTask {
			result.Task = readCreatedTask(fields)
		}
		return result, nil
	}
	return result, result.readInterim(kind, fields)
}

func (r *Result) readInterim(kind string, fields []wire.Member) error {
	switch kind {
	case resultInput:
		r.InputRequired = readInputRequired(fields)
		if r.InputRequired == nil {
			return newProtocolError(PhaseCall, "sent an unreadable input request")
		}
	case resultTask:
		if r.Task = readTask(r.Raw); r.Task == nil {
			return newProtocolError(PhaseCall, "sent a task without ID")
		}
	}
	return nil
}

func readInputRequired(fields []wire.Member) *InputRequired {
	r := &InputRequired{}
	for _, f := range fields {
		switch f.Name {
		case "requestState":
			r.State = f.Value
		case "inputRequests":
			requests, ok := wire.Members(f.Value)
			if !ok {
				return nil
			}
			for _, keyed := range requests {
				m := readObject(keyed.Value)
				r.Requests = append(r.Requests, KeyedRequest{
					Key: keyed.Name, InputRequest: InputRequest{Method: readString(m.get("method"), maxNameLength), Params: m.get("params")},
				})
			}
		}
	}
	return r
}
