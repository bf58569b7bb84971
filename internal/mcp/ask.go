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

// Query is any other request, and what whoever sends it wants to hear before the reply.
type Query struct {
	Method string
	Params json.RawMessage // an object; empty: none
	// Timeout bounds the request with its reply; 0: as the target says.
	Timeout time.Duration
	// Progress, Message, LogLevel and Payer are as in a [Call].
	Progress func(ProgressNote)
	Message  func(Message)
	LogLevel string
	Payer    [16]byte
}

// Request is a query of which nothing is heard but the reply.
func (s *Session) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return s.Query(ctx, Query{Method: method, Params: params})
}

// Query sends any other request and returns the result byte for byte. It is sent once, as a call is: what it does is not known here.
// Every error is an *Error.
func (s *Session) Query(ctx context.Context, q Query) (json.RawMessage, error) {
	r, err := otherRequest(q.Method, q.Params)
	if err != nil {
		return nil, err
	}
	r.payer = q.Payer
	c := s.current()
	raw, err := c.query(ctx, r, q)
	if !lost(err) {
		return raw, err
	}
	next, renewed := s.renew(ctx, c)
	if !notFound(err) || renewed != nil {
		return nil, err
	}
	return next.query(ctx, r, q)
}

// otherRequest is a request with the caller's parameters.
func otherRequest(method string, params json.RawMessage) (request, error) {
	r := request{phase: PhaseRequest, method: method}
	fields, ok := wire.Members(params)
	if !ok {
		return r, ownMistake(PhaseRequest, "the parameters are not an object")
	}
	for _, f := range fields {
		if f.Name == "_meta" {
			if r.meta, ok = wire.Members(f.Value); !ok {
				return r, ownMistake(PhaseRequest, "the parameters' _meta is not an object")
			}
			r.meta = without(r.meta, metaProgress) // a token that is not ours could be another call's
			continue
		}
		r.params = append(r.params, f)
		if f.Name == subjects[method] {
			r.name = text(f.Value, len(f.Value))
		}
	}
	return r, nil
}

func notFound(err error) bool {
	failure, ok := errors.AsType[*Error](err)
	return ok && failure.HTTPStatus == http.StatusNotFound
}

// subjects are the parameters that Mcp-Name repeats, by method.
var subjects = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
	"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
}

// query sends a request, and lets somebody hear what comes before the reply.
func (c *conversation) query(ctx context.Context, r request, q Query) (json.RawMessage, error) {
	if q.Progress == nil && q.Message == nil && q.Timeout == 0 {
		return c.once(ctx, r)
	}
	c.speakUp(ctx, q.LogLevel)
	if q.LogLevel != "" && !c.era.asks() {
		r.meta = append(without(r.meta, revision.MetaLogLevel), wire.Member{Name: revision.MetaLogLevel, Value: wire.Text(q.LogLevel)})
	}
	timeout := q.Timeout
	if timeout <= 0 {
		timeout = c.timeout
	}
	return c.sentOnce(ctx, func() (*wire.Reply, *Error) {
		id, r := c.id(), r
		if q.Progress != nil {
			r.meta = append(slices.Clip(r.meta), wire.Member{Name: metaProgress, Value: wire.Number(id)})
		}
		defer c.depart(c.attend(id, &caller{progress: q.Progress, message: q.Message}))
		in, failure := c.within(ctx, timeout, c.era.message(c, r, id))
		return in.reply, failure
	})
}

// once sends a request, and again only where it was not sent.
func (c *conversation) once(ctx context.Context, r request) (json.RawMessage, error) {
	return c.sentOnce(ctx, func() (*wire.Reply, *Error) { return c.exchange(ctx, c.era.message(c, r, c.id())) })
}

// sentOnce is what came of an exchange, which is done again only where it did not reach the server.
func (c *conversation) sentOnce(ctx context.Context, exchange func() (*wire.Reply, *Error)) (json.RawMessage, error) {
	var reply *wire.Reply
	err := c.retry.unsent().do(ctx, func() (failure *Error) {
		reply, failure = exchange()
		return failure
	})
	if err != nil {
		return nil, err
	}
	return reply.Result, nil
}

// Notify sends a notification, params being an object or empty.
func (s *Session) Notify(ctx context.Context, method string, params json.RawMessage) error {
	if !wire.IsObject(params) {
		return ownMistake(PhaseRequest, "the parameters are not an object")
	}
	if len(params) == 0 {
		params = nil
	}
	c, m := s.current(), notification(PhaseRequest, method, params)
	if c.mirrors() {
		m.tells = true
	}
	return c.retry.unsent().do(ctx, func() *Error {
		_, err := c.exchange(ctx, m)
		return err
	})
}

// Ping asks the server for a sign of life. In the modern era, which has no ping, server/discover is one.
func (s *Session) Ping(ctx context.Context) error {
	c := s.current()
	r := request{phase: PhaseRequest, method: "ping"}
	if !c.era.asks() {
		r.method = discover
	}
	_, err := c.once(ctx, r)
	return err
}
