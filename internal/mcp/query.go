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

// OtherRequest is any request but tools/call.
type OtherRequest struct {
	Method string
	Params json.RawMessage // an object; empty: none
	// Timeout bounds the request with its reply; 0: the target's.
	Timeout time.Duration
	// Progress, Message, Answer, CallerKey, LogLevel and MemoryKey are as in a [Call].
	Progress  func(ProgressNotification)
	Message   func(Message)
	Answer    func(InputRequest) (json.RawMessage, error)
	CallerKey [16]byte
	LogLevel  string
	MemoryKey [16]byte
	// BetweenCalls and OwnStreamOnly are as in a [Call].
	BetweenCalls  MessageReceiver
	OwnStreamOnly bool
}

// Request is an OtherRequest without callbacks.
func (s *Session) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return s.Send(ctx, OtherRequest{Method: method, Params: params})
}

// Send sends a request and returns its result byte for byte. It is sent once, because it may not be
// idempotent. Every error is an *Error.
func (s *Session) Send(ctx context.Context, q OtherRequest) (json.RawMessage, error) {
	r, err := newOtherRequest(q.Method, q.Params)
	if err != nil {
		return nil, err
	}
	r.memoryKey = q.MemoryKey
	c := s.currentConnection()
	raw, err := c.sendQuery(ctx, r, q)
	if !isSessionLost(err) {
		return raw, err
	}
	next, reconnectErr := s.waitForReplacement(ctx, c)
	if !isNotFound(err) || reconnectErr != nil {
		return nil, err
	}
	return next.sendQuery(ctx, r, q)
}

func newOtherRequest(method string, params json.RawMessage) (rpcRequest, error) {
	r := rpcRequest{phase: PhaseRequest, method: method}
	fields, ok := wire.Members(params)
	if !ok {
		return r, newRequestError(PhaseRequest, "the parameters are not an object")
	}
	for _, f := range fields {
		if f.Name == "_meta" {
			if r.meta, ok = wire.Members(f.Value); !ok {
				return r, newRequestError(PhaseRequest, "the parameters' _meta is not an object")
			}
			r.meta = withoutMembers(r.meta, metaProgressToken) // a foreign token could equal another call's
			continue
		}
		r.params = append(r.params, f)
		if f.Name == nameParams[method] {
			r.name = readString(f.Value, len(f.Value))
		}
	}
	return r, nil
}

func isNotFound(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.HTTPStatus == http.StatusNotFound
}

// nameParams is the parameter that Mcp-Name repeats, by method.
var nameParams = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
	"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
}

func (c *connection) sendQuery(ctx context.Context, r rpcRequest, q OtherRequest) (json.RawMessage, error) {
	if q.Progress == nil && q.Message == nil && q.Answer == nil && q.Timeout == 0 {
		return c.requestOnce(ctx, r)
	}
	if q.Answer != nil {
		c.openServerStream(ctx)
	}
	c.enableLogging(ctx, q.LogLevel)
	c.addMessageReceiver(q.BetweenCalls)
	if q.LogLevel != "" && !c.era.hasServerRequests() {
		r.meta = append(withoutMembers(r.meta, revision.MetaLogLevel), wire.Member{Name: revision.MetaLogLevel, Value: wire.Text(q.LogLevel)})
	}
	timeout := q.Timeout
	if timeout <= 0 {
		timeout = c.timeout
	}
	return c.retryUnsent(ctx, func() (*wire.Reply, *Error) {
		id, r := c.newID(), r
		if q.Progress != nil {
			r.meta = append(slices.Clip(r.meta), wire.Member{Name: metaProgressToken, Value: wire.Number(id)})
		}
		defer c.unregisterCallbacks(c.registerCallbacks(id, &requestCallbacks{
			progress: q.Progress, message: q.Message, answer: q.Answer, callerKey: q.CallerKey,
			clientKey: q.BetweenCalls.Key, ownStreamOnly: q.OwnStreamOnly,
		}))
		in, failure := c.exchangeWithin(ctx, timeout, c.era.newMessage(c, r, id))
		return in.reply, failure
	})
}

// requestOnce sends a request. It is repeated only if it was not sent.
func (c *connection) requestOnce(ctx context.Context, r rpcRequest) (json.RawMessage, error) {
	return c.retryUnsent(ctx, func() (*wire.Reply, *Error) { return c.exchangeMessage(ctx, c.era.newMessage(c, r, c.newID())) })
}

// retryUnsent repeats an exchange only while it does not reach the server, and returns its result.
func (c *connection) retryUnsent(ctx context.Context, exchange func() (*wire.Reply, *Error)) (json.RawMessage, error) {
	var reply *wire.Reply
	err := c.retry.unsentOnly().do(ctx, func() (failure *Error) {
		reply, failure = exchange()
		return failure
	})
	if err != nil {
		return nil, err
	}
	return reply.Result, nil
}

// Notify sends a notification. params is an object or empty.
func (s *Session) Notify(ctx context.Context, method string, params json.RawMessage) error {
	r, err := newOtherRequest(method, params)
	if err != nil {
		return err
	}
	if meta := withoutMembers(r.meta, metaVersion, metaClient, metaCapabilities); len(meta) > 0 { // those are of another connection
		r.params = append(r.params, wire.Member{Name: "_meta", Value: wire.Object(meta)})
	}
	params = nil
	if len(r.params) > 0 {
		params = wire.Object(r.params)
	}
	c, m := s.currentConnection(), newNotification(PhaseRequest, method, params)
	if c.mirrorsParams() {
		m.hasMethodHeader = true
	}
	return c.retry.unsentOnly().do(ctx, func() *Error {
		_, err := c.exchangeMessage(ctx, m)
		return err
	})
}

// Ping checks that the server responds. The modern era has no ping and uses server/discover.
func (s *Session) Ping(ctx context.Context) error {
	c := s.currentConnection()
	r := rpcRequest{phase: PhaseRequest, method: "ping"}
	if !c.era.hasServerRequests() {
		r.method = methodDiscover
	}
	_, err := c.requestOnce(ctx, r)
	return err
}
