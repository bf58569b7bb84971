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

// maxRounds bounds how often a server may ask for more input before it answers a call.
const maxRounds = 16

// Call is one call of a tool.
type Call struct {
	Name      string
	Arguments json.RawMessage // an object; empty: none
	Meta      json.RawMessage // _meta, an object; empty: none
	// InputSchema is the tool's, for the parameters that it wants mirrored into headers; empty: none.
	InputSchema json.RawMessage
	// Timeout bounds each round trip; 0: as the target says.
	Timeout time.Duration

	// Progress and Message hear what the server says meanwhile. They must return quickly; nil: nobody listens.
	Progress func(ProgressNote)
	Message  func(Message)
	// Answer answers what the server asks meanwhile, and must return when ctx ends. nil: a server of the handshake era is
	// refused, and one of the modern era gets the call's result returned as InputRequired.
	Answer func(InputRequest) (json.RawMessage, error)
	// Who is whose call it is, where several share a session: so many questions of the server may be open for each of them.
	Who [16]byte
	// Payer is whose room a long answer takes while it is read ([Room]); zero: nobody's, and it takes none.
	Payer [16]byte

	// Lend allows a long result to stand in memory that is used again after [Result.Release].
	Lend bool

	// LogLevel is from which level on somebody wants to hear log messages, as MCP names them; empty: as the server likes. A server of
	// the handshake era is told once, for all, and to say everything: who hears it chooses.
	LogLevel string

	// Input goes on with a call whose result was InputRequired; nil: a call from the beginning.
	Input *Input
}

// Input is what was asked for by an [InputRequired].
type Input struct {
	Responses json.RawMessage // an object of results, by the keys of the requests; empty: none
	State     json.RawMessage // InputRequired.State, unchanged
}

// Result is what came of a call.
type Result struct {
	Raw        json.RawMessage // the whole result, byte for byte
	Content    json.RawMessage // of it; nil: there is none
	Structured json.RawMessage // structuredContent of it; nil: there is none
	IsError    bool            // the tool says that it failed
	// At most one of the following is set; none: the call is done.
	Task          *Task          // the server goes on by itself
	InputRequired *InputRequired // the call has to be sent again, with Input

	lease lease
}

// InputRequired is what a server of the modern era wants to know before it goes on.
type InputRequired struct {
	Requests []KeyedRequest
	State    json.RawMessage // a string that means something to the server alone; empty: none
}

// KeyedRequest is one of several requests.
type KeyedRequest struct {
	Key string
	InputRequest
}

// Call calls a tool. It is sent once: again only where it certainly did not run, because no connection came about, the server did
// not know the session (404), or refused its headers. Every error is an *Error; one whose Reason is ReasonInput holds what
// Answer returned.
func (s *Session) Call(ctx context.Context, call Call) (*Result, error) {
	for range maxRounds {
		result, err := s.round(ctx, &call)
		if err != nil || result.InputRequired == nil || call.Answer == nil {
			return result, err
		}
		if call.Input, err = result.InputRequired.answer(call.Answer); err != nil {
			return result, &Error{Phase: PhaseCall, Reason: ReasonInput, HTTPStatus: http.StatusOK, Err: err}
		}
	}
	return nil, protocolError(PhaseCall, "asks for more input again and again")
}

// answer gets an answer to each request.
func (r *InputRequired) answer(answer func(InputRequest) (json.RawMessage, error)) (*Input, error) {
	input := &Input{State: r.State}
	var responses []wire.Member
	for _, asked := range r.Requests {
		response, err := answer(asked.InputRequest)
		if err != nil {
			return nil, err
		}
		responses = append(responses, wire.Member{Name: asked.Key, Value: response})
	}
	input.Responses = wire.Object(responses)
	return input, nil
}

// round is a call from one request to its result.
func (s *Session) round(ctx context.Context, call *Call) (*Result, error) {
	c := s.current()
	result, err := c.call(ctx, call)
	failure, _ := errors.AsType[*Error](err)
	switch {
	case lost(err):
		next, renewed := s.renew(ctx, c)
		if !notFound(err) || renewed != nil {
			return nil, err // the next call has the new session
		}
		return next.call(ctx, call)
	case failure != nil && failure.RPCCode == codeHeaderMismatch && c.mirrors():
		if !c.relearn(ctx, call) {
			return nil, err
		}
		return c.call(ctx, call)
	}
	return result, err
}

// relearn reads the tool's schema anew; ok is false where it does not list the tool.
func (c *conversation) relearn(ctx context.Context, call *Call) (ok bool) {
	list, err := c.list(ctx)
	if err != nil {
		return false
	}
	for _, tool := range list.Tools {
		if tool.Name == call.Name {
			call.InputSchema = members(tool.Raw).get("inputSchema")
			return true
		}
	}
	return false
}

// call sends a call, and again only where it was not sent.
func (c *conversation) call(ctx context.Context, call *Call) (*Result, error) {
	r, err := c.callRequest(call)
	if err != nil {
		return nil, err
	}
	if call.Answer != nil {
		c.hearken(ctx)
	}
	c.speakUp(ctx, call.LogLevel)
	var in incoming
	err = c.retry.unsent().do(ctx, func() (failure *Error) {
		id := c.id()
		r.meta = slices.DeleteFunc(r.meta, isProgress) // a token that is not ours could be another call's
		if call.Progress != nil {
			r.meta = append(r.meta, wire.Member{Name: metaProgress, Value: wire.Number(id)})
		}
		defer c.depart(c.attend(id, &caller{progress: call.Progress, message: call.Message, answer: call.Answer, who: call.Who}))
		timeout := call.Timeout
		if timeout <= 0 {
			timeout = c.timeout
		}
		m := c.era.message(c, r, id)
		m.lend = call.Lend
		in, failure = c.within(ctx, timeout, m)
		return failure
	})
	if err != nil {
		return nil, err
	}
	result, err := c.result(in.reply)
	if err == nil && result.Task == nil && result.InputRequired == nil {
		result.lease = in.lease
	}
	return result, err
}

// speakUp has a server of the handshake era that keeps its log messages to itself until it is asked say them.
func (c *conversation) speakUp(ctx context.Context, level string) {
	if level == "" || !c.hasLog || !c.era.asks() {
		return
	}
	c.speaking.Do(func() {
		_, _ = c.once(ctx, request{phase: PhaseRequest, method: "logging/setLevel", params: []wire.Member{{Name: "level", Value: wire.Text("debug")}}})
	})
}

const metaProgress = "progressToken"

func isProgress(m wire.Member) bool { return m.Name == metaProgress }

func (c *conversation) callRequest(call *Call) (request, error) {
	r := request{phase: PhaseCall, method: "tools/call", name: call.Name, payer: call.Payer}
	r.params = append(make([]wire.Member, 0, 4), wire.Member{Name: "name", Value: wire.Text(call.Name)})
	if len(call.Arguments) > 0 {
		r.params = append(r.params, wire.Member{Name: "arguments", Value: call.Arguments})
	}
	if call.Input != nil {
		r.params = append(r.params, call.Input.members()...)
	}
	var ok bool
	if r.meta, ok = wire.Members(call.Meta); !ok {
		return r, ownMistake(PhaseCall, "the call's _meta is not an object")
	}
	if !wire.IsObject(call.Arguments) {
		return r, ownMistake(PhaseCall, "the call's arguments are not an object")
	}
	if call.LogLevel != "" && !c.era.asks() {
		r.meta = append(without(r.meta, revision.MetaLogLevel), wire.Member{Name: revision.MetaLogLevel, Value: wire.Text(call.LogLevel)})
	}
	if c.mirrors() {
		r.header = paramHeaders(call.InputSchema, call.Arguments)
	}
	return r, nil
}

func (i *Input) members() (params []wire.Member) {
	if len(i.Responses) > 0 {
		params = append(params, wire.Member{Name: "inputResponses", Value: i.Responses})
	}
	if len(i.State) > 0 {
		params = append(params, wire.Member{Name: "requestState", Value: i.State})
	}
	return params
}

// ownMistake is the failure of a request that cannot be written.
func ownMistake(phase Phase, detail string) *Error {
	return &Error{Phase: phase, Reason: ReasonProtocol, Detail: detail}
}

// result reads what a call's result is. Its content is nobody's business here.
func (c *conversation) result(reply *wire.Reply) (*Result, error) {
	fields, ok := reply.Fields, true
	if fields == nil {
		fields, ok = wire.Members(reply.Result)
	}
	if !ok {
		return nil, protocolError(PhaseCall, "sent a result that is not an object")
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
			kind = text(f.Value, maxNameLength)
		}
	}
	if err := c.era.settle(PhaseCall, kind); err != nil {
		return nil, err
	}
	return result, result.interim(c, kind, fields)
}

// interim reads a result that is not the last one.
func (r *Result) interim(c *conversation, kind string, fields []wire.Member) error {
	if c.era.asks() { // the kinds of results belong to the era in which the server does not ask by itself
		return nil
	}
	switch kind {
	case resultInput:
		r.InputRequired = inputRequired(fields)
		if r.InputRequired == nil {
			return protocolError(PhaseCall, "asks for input in a way that cannot be read")
		}
	case resultTask:
		if r.Task = readTask(r.Raw); r.Task == nil {
			return protocolError(PhaseCall, "sent a task without an id")
		}
	}
	return nil
}

func inputRequired(fields []wire.Member) *InputRequired {
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
			for _, asked := range requests {
				m := members(asked.Value)
				r.Requests = append(r.Requests, KeyedRequest{
					Key: asked.Name, InputRequest: InputRequest{Method: text(m.get("method"), maxNameLength), Params: m.get("params")},
				})
			}
		}
	}
	return r
}
